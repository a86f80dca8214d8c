"""Pictures: a scene of areas, lines, arrows and texts, drawn as SVG, in pixels or as text."""

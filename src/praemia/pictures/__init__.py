"""Pictures: maps and policies as scenes, in SVG and in pixels; machines, drawn by Graphviz; maps as text."""

"""Other tools' formats, a module or two for each; ``praemia.files.registry`` lists them."""

"""Other tools' formats, a module or two for each; ``praemia.files.load_save`` lists them."""

"""The five documents that stepscope starts from, item by item: the command for each, and its true answer."""

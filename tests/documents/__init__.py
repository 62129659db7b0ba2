"""The five documents that stepscope starts from, item by item: what each describes, the command, the true answer."""

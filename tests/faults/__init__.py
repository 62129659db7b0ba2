"""What happens when the disk fails or the process dies at any moment."""

"""What results are compared with, written independently of the package."""

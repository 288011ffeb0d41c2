"""Projects and skills: conversations grouped by name, and instructions that a person keeps."""

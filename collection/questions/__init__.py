"""What people and judges are asked: for each question a folder with its words, guidelines and prompts."""

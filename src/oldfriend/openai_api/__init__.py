"""APIs for other front ends: the companion as a model (OpenAI, Ollama) and by voice (Wyoming)."""

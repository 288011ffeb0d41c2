"""Language, embedding and speech models: protocols, providers and fallback."""

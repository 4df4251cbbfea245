"""How far an answer can be trusted: certificates, residuals, longer formats, singular robots."""

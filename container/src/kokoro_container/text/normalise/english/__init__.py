"""What only English needs: street or saint, PINs and rooms, years, o'clock, acronyms."""

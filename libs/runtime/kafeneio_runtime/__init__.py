"""What every process of Kafeneio needs and no game knows."""

"""Similarity baseline: a query's cosines with unrelated texts, to compare models on one scale.

Every model has a range of its own: two unrelated sentences have a cosine of about 0.1 with one
model and of 0.8 with another.
"""

from typing import Final

import numpy as np

from oldfriend.domain.bundled_files import BUNDLED_MODEL
from oldfriend.search.types import Floats, SimilarityBaseline, multiply

CALIBRATION_MODEL: Final = BUNDLED_MODEL
"""Model that the search weights were trained with."""
_MIN_DEVIATION: Final = 1e-3

CALIBRATION_TEXTS: Final = (
    "Ana: I'll be there around seven, the traffic is terrible today.",
    "Tom: Did you remember to buy milk and bread on the way home?",
    "Maria: My sister is getting married in June, we are all so excited.",
    "Ben: The meeting was moved to Thursday afternoon.",
    "Lena: I finally finished that book you gave me for my birthday.",
    "Jonas: We watched the match at Peter's place, what a game.",
    "Sara: My back has been hurting since the weekend, I should see a doctor.",
    "Paul: The landlord wants to raise the rent again.",
    "Nina: I made soup from the pumpkins in the garden.",
    "Leo: Can you send me the address of the restaurant?",
    "Eva: The dog ate one of my shoes again.",
    "Max: I start my new job on the first of March.",
    "Julia: The kids have a school trip to the museum tomorrow.",
    "Omar: Thank you so much, that really helped me.",
    "Rita: I can't sleep lately, too much on my mind.",
    "David: The car needs new tires before the winter.",
    "Clara: We booked two weeks in Greece, by the sea.",
    "Felix: My phone battery dies after a few hours.",
    "Hana: Grandma told us how she met grandpa during the war.",
    "Ivan: I am trying to run ten kilometres every Sunday.",
    "Laura: Happy birthday! I hope you have a wonderful day.",
    "Marco: The printer at work is broken, as always.",
    "Petra: I painted the kitchen yellow and I love it.",
    "Simon: What do you think about the election?",
    "Ines: The flight was delayed by three hours because of the fog.",
    "Karl: I lost my keys somewhere between the office and the gym.",
    "Olga: She plays the violin in the city orchestra.",
    "Hugo: I paid the electricity bill this morning.",
    "Vera: It has been raining for days here.",
    "Adam: He said he was sorry, but I am still angry.",
    "Zoe: I learned to bake bread during the holidays.",
    "Theo: Good night, talk to you tomorrow.",
)
"""Messages of many people about many things, in the form in which messages are embedded."""


def compute_baseline(vector: Floats, calibration_vectors: Floats) -> SimilarityBaseline:
    """Return mean and deviation of a query's cosines with the calibration texts."""
    cosines = multiply(calibration_vectors, vector)
    deviation = max(float(cosines.std(dtype=np.float64)), _MIN_DEVIATION)
    return SimilarityBaseline(mean=float(cosines.mean(dtype=np.float64)), deviation=deviation)

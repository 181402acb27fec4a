"""What each bundled table holds, where it comes from, and the terms under which it is passed on."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from empirisk.data.column import Kind

Task = Literal["classification", "regression", "density"]

CC_BY = "CC BY 4.0 (https://creativecommons.org/licenses/by/4.0/)"
CC0 = "CC0 1.0 (https://creativecommons.org/publicdomain/zero/1.0/)"


class Column(NamedTuple):
    """What a column holds: its kind, and its meaning with the unit."""

    kind: Kind
    meaning: str


@dataclass(frozen=True, eq=False)
class Description:
    """One bundled table: its columns, what is predicted, its source and its licence.

    `missing` counts the blank cells; `changes` says how the file differs from its source, as
    CC BY 4.0 asks; `sha256` is the digest of the file.
    """

    name: str
    title: str
    task: Task
    target: str | None
    rows: int
    missing: int
    columns: Mapping[str, Column]
    source: str
    licence: str
    changes: str
    file: str
    sha256: str

    def __str__(self) -> str:
        width = max(len(name) for name in self.columns)
        goal = self.task if self.target is None else f"{self.task} of {self.target}"
        size = f"{self.rows} rows, {len(self.columns)} columns, {self.missing} missing cells"
        return "\n".join(
            [
                f"{self.name}: {self.title}",
                f"{size}; {goal}",
                *(f"  {n:{width}}  {kind:8}  {text}" for n, (kind, text) in self.columns.items()),
                f"source: {self.source}",
                f"licence: {self.licence}",
                f"changes: {self.changes}",
            ]
        )


AUTO_MPG = Description(
    name="auto_mpg",
    title="fuel consumption of 398 cars of the model years 1970 to 1982",
    task="regression",
    target="mpg",
    rows=398,
    missing=6,
    columns={
        "mpg": Column("number", "miles per US gallon in the city"),
        "cylinders": Column("number", "number of cylinders"),
        "displacement": Column("number", "engine displacement in cubic inches"),
        "horsepower": Column("number", "engine power in horsepower"),
        "weight": Column("number", "weight in pounds"),
        "acceleration": Column("number", "seconds from 0 to 60 miles per hour"),
        "model_year": Column("number", "model year, less 1900"),
        "origin": Column("category", "where the car was made"),
        "car_name": Column("text", "make and model"),
    },
    source="Quinlan, R. (1993). Auto MPG. UCI Machine Learning Repository. "
    "https://doi.org/10.24432/C5859H",
    licence=CC_BY,
    changes="written as CSV with a header; '?' left blank; the codes of origin spelled out",
    file="auto_mpg.csv",
    sha256="ddf0ddfc59704f8318881f6d7824c28759edbd51f7c5f781de345250a8fc5c10",
)

BIKE_SHARING = Description(
    name="bike_sharing",
    title="bicycles hired per day in Washington, D.C., in 2011 and 2012",
    task="regression",
    target="rentals",
    rows=731,
    missing=1,
    columns={
        "date": Column("date", "the day"),
        "season": Column("category", "season of the year"),
        "holiday": Column("boolean", "a public holiday"),
        "working_day": Column("boolean", "neither weekend nor holiday"),
        "weather": Column("category", "from clear to rain or snow, averaged over the day"),
        "temperature": Column("number", "air temperature, scaled to [0, 1] by the source"),
        "feels_like": Column("number", "felt temperature, scaled to [0, 1] by the source"),
        "humidity": Column("number", "relative humidity, from 0 to 1"),
        "windspeed": Column("number", "wind speed, scaled to [0, 1] by the source"),
        "rentals": Column("number", "bicycles hired that day"),
    },
    source="Fanaee-T, H. (2013). Bike Sharing. UCI Machine Learning Repository. "
    "https://doi.org/10.24432/C5W894",
    licence=CC_BY,
    changes="hours averaged or summed to days; codes spelled out; the one humidity of 0 left "
    "blank; casual and registered hires, which sum to the target, left out",
    file="bike_sharing.csv",
    sha256="1574b97ddd847a729b9561c5c08fc8463f914a4e944c695d331d930ed0b74744",
)

DIGITS = Description(
    name="digits",
    title="1797 handwritten digits as images of 8 x 8 pixels",
    task="classification",
    target="digit",
    rows=1797,
    missing=0,
    columns={
        **{
            f"pixel_{i}_{j}": Column("number", f"ink in row {i}, column {j}, from 0 to 16")
            for i in range(8)
            for j in range(8)
        },
        "digit": Column("category", "the digit meant, 0 to 9"),
    },
    source="Alpaydin, E. and Kaynak, C. (1998). Optical Recognition of Handwritten Digits. "
    "UCI Machine Learning Repository. https://doi.org/10.24432/C50P49; "
    "the test part, as in scikit-learn",
    licence=CC_BY,
    changes="a header added, compressed",
    file="digits.csv.gz",
    sha256="0f622aac121cc3fc5d83397199887f8019d6db33381d033e73e300a2ce17c1ed",
)

FAITHFUL = Description(
    name="faithful",
    title="272 eruptions of the geyser Old Faithful in Yellowstone National Park",
    task="density",
    target=None,
    rows=272,
    missing=0,
    columns={
        "eruptions": Column("number", "length of the eruption in minutes"),
        "waiting": Column("number", "minutes until the next eruption"),
    },
    source="Härdle, W. (1991). Smoothing Techniques with Implementation in S. Springer; "
    "Azzalini, A. and Bowman, A. W. (1990). A look at some data on the Old Faithful geyser. "
    "Applied Statistics 39, 357-365; as R's datasets::faithful",
    licence="no licence is stated at the source: a list of measured times, facts without an "
    "author, reprinted in textbooks and software since 1990",
    changes="none in the values",
    file="faithful.csv",
    sha256="35755e109446ec911891b1eae5cb33bc2f18367ce712145e4f9d27d19f575bad",
)

HEART_DISEASE = Description(
    name="heart_disease",
    title="coronary heart disease among 920 patients of hospitals in four places",
    task="classification",
    target="disease",
    rows=920,
    missing=1932,
    columns={
        "age": Column("number", "age in years"),
        "sex": Column("category", "female or male"),
        "chest_pain": Column("category", "kind of chest pain"),
        "blood_pressure": Column("number", "resting blood pressure in mm Hg on admission"),
        "cholesterol": Column("number", "serum cholesterol in mg/dl"),
        "high_blood_sugar": Column("boolean", "fasting blood sugar above 120 mg/dl"),
        "resting_ecg": Column("category", "electrocardiogram at rest"),
        "max_heart_rate": Column("number", "highest heart rate reached, per minute"),
        "exercise_angina": Column("boolean", "angina under exercise"),
        "st_depression": Column("number", "ST depression under exercise, relative to rest"),
        "st_slope": Column("category", "slope of the ST segment at peak exercise"),
        "vessels": Column("number", "major vessels coloured by fluoroscopy, 0 to 3"),
        "thallium": Column("category", "result of the thallium scan"),
        "hospital": Column("category", "where the patient was seen"),
        "disease": Column("category", "a major vessel narrowed by more than half"),
    },
    source="Janosi, A. (Budapest), Steinbrunn, W. (Zurich), Pfisterer, M. (Basel) and Detrano, R. "
    "(Long Beach and Cleveland) (1989). Heart Disease. UCI Machine Learning Repository. "
    "https://doi.org/10.24432/C52P4X",
    licence=CC_BY,
    changes="the four processed files joined, with the hospital; codes spelled out; the grades "
    "of disease 1 to 4 joined to yes; '?' left blank, as are a cholesterol of 0 (172 cells) and "
    "a blood pressure of 0 (1 cell), which stand for not measured",
    file="heart_disease.csv",
    sha256="9fd64b9aa46332e0b7e0367d88f0a04f5e3cf88b321c8dca417141c616096483",
)

PENGUINS = Description(
    name="penguins",
    title="344 penguins of three species on three islands near Palmer Station, Antarctica",
    task="classification",
    target="species",
    rows=344,
    missing=19,
    columns={
        "species": Column("category", "Adelie, Chinstrap or Gentoo"),
        "island": Column("category", "island of the Palmer Archipelago"),
        "bill_length_mm": Column("number", "length of the bill in mm"),
        "bill_depth_mm": Column("number", "depth of the bill in mm"),
        "flipper_length_mm": Column("number", "length of the flipper in mm"),
        "body_mass_g": Column("number", "body mass in g"),
        "sex": Column("category", "female or male"),
        "year": Column("number", "year of the study"),
    },
    source="Horst, A. M., Hill, A. P. and Gorman, K. B. (2020). palmerpenguins. "
    "https://doi.org/10.5281/zenodo.3960218; "
    "Gorman, K. B., Williams, T. D. and Fraser, W. R. (2014). PLoS ONE 9(3), e90081",
    licence=CC0,
    changes="NA left blank",
    file="penguins.csv",
    sha256="7d8686e372cbc0f53a0147c22d164befdef85b41596c71a5cf64aa916518b3d0",
)

CATALOGUE: Mapping[str, Description] = {
    table.name: table
    for table in (AUTO_MPG, BIKE_SHARING, DIGITS, FAITHFUL, HEART_DISEASE, PENGUINS)
}

"""Writes shapley_values.json: trees of LightGBM and XGBoost with their own Shapley values.

Run by hand: python tests/reference/shapley_values.py. LightGBM 4.7.0, pred_contrib=True; XGBoost
3.2.0, pred_contribs=True, in single precision.
"""

import json
from pathlib import Path


def main():
    import lightgbm
    import numpy as np
    import xgboost
    from benchmarks.shapley import lightgbm_nodes, xgboost_nodes

    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 8)).astype(np.float32)
    y = (X[:, 0] * X[:, 1] + np.sin(3 * X[:, 2]) + 0.2 * X[:, 3]).astype(np.float32)
    how = {"num_leaves": 16, "min_data_in_leaf": 5, "verbose": -1, "num_threads": 1}
    light = lightgbm.train(how, lightgbm.Dataset(X.astype(float), y), num_boost_round=3)
    how = {"max_depth": 5, "nthread": 1, "base_score": 0.0}
    extreme = xgboost.train(how, xgboost.DMatrix(X, y), num_boost_round=3)
    trees = {
        "lightgbm": [
            list(lightgbm_nodes(tree["tree_structure"])) for tree in light.dump_model()["tree_info"]
        ],
        "xgboost": [
            list(xgboost_nodes(json.loads(tree)))
            for tree in extreme.get_dump(dump_format="json", with_stats=True)
        ],
    }
    rows = X[:6]
    values = {
        "lightgbm": light.predict(rows.astype(float), pred_contrib=True).tolist(),
        "xgboost": extreme.predict(xgboost.DMatrix(rows), pred_contribs=True).tolist(),
    }
    found = {"rows": rows.astype(float).tolist(), "trees": trees, "values": values}
    Path(__file__).with_suffix(".json").write_text(json.dumps(found))


if __name__ == "__main__":
    main()

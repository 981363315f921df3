"""Reads Spark's physical plans: what is shuffled below each join."""

JOINS = ("SortMergeJoin", "ShuffledHashJoin", "BroadcastHashJoin", "BroadcastNestedLoopJoin", "CartesianProduct")
# Nodes that have exchanges of their own: what lies below them isn't the join's.
OWNERS = ("Aggregate", "Window", "Scan", "Union", "Expand", "Generate", "TakeOrdered")


def children(node):
    seq = node.children()
    return [seq.apply(i) for i in range(seq.size())]


def root(df, adaptive):
    """The plan before anything has run: with adaptive execution on it is inside another node."""
    plan = df._jdf.queryExecution().executedPlan()
    return plan.initialPlan() if adaptive and plan.nodeName() == "AdaptiveSparkPlan" else plan


def exchange(node):
    """The kind of exchange between a join and what feeds it: "shuffle", "broadcast" or None."""
    while True:
        name = node.nodeName()
        if "BroadcastExchange" in name:
            return "broadcast"
        if "Exchange" in name:
            if name == "ReusedExchange" and "Broadcast" in node.child().nodeName():
                return "broadcast"
            return "shuffle"
        below = children(node)
        if len(below) != 1 or name in JOINS or any(o in name for o in OWNERS):
            return None
        node = below[0]


def joins(plan):
    """For each join, those inside others first: its node and "none", "one side", "both sides", "broadcast" or "pairs".
    "pairs" are joins without an equality, which compare every row with every other."""
    out = []

    def visit(node):
        for c in children(node):
            visit(c)
        name = node.nodeName()
        if name not in JOINS:
            return
        sides = [exchange(c) for c in children(node)]
        if name in ("BroadcastNestedLoopJoin", "CartesianProduct"):
            out.append((name, "pairs"))
        elif "broadcast" in sides:
            out.append((name, "broadcast"))
        else:
            out.append((name, ("none", "one side", "both sides")[sides.count("shuffle")]))

    visit(plan)
    return out

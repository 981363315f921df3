package verdict

// The engines that are judged, in the order in which they are shown.
const (
	Tarn  = "tarn"
	Spark = "spark"
	Trino = "trino"
)

// engines has the version that each model describes. Only what make interop-spark compares is verified.
var engines = []Engine{
	{Name: Tarn, Version: "this one", Verified: true},
	{Name: Spark, Version: "4.1 with Iceberg 1.12", Verified: true},
	{Name: Trino, Version: "468 and later", Verified: false},
}

// RuleID names a rule in JSON and in docs/check.md.
type RuleID string

// rule is one precondition of an engine.
type rule struct {
	ID     RuleID
	Engine string
	Needs  string // what must hold
	Source string // where it is written: a file of the engine, or its documentation
}

// The rules. A problem or a setting names the rule that it comes from.
const (
	tarnPlan RuleID = "tarn-plan"

	sparkGrouping   RuleID = "spark-grouping"
	sparkReadable   RuleID = "spark-readable"
	sparkFiles      RuleID = "spark-files"
	sparkPartition  RuleID = "spark-partitioned"
	sparkSpecs      RuleID = "spark-specs"
	sparkTransform  RuleID = "spark-transform"
	sparkFilterOnly RuleID = "spark-filter-column"
	sparkEquality   RuleID = "spark-equality"
	sparkTypes      RuleID = "spark-types"
	sparkFloat      RuleID = "spark-float"
	sparkNullSafe   RuleID = "spark-null-safe"
	sparkJoined     RuleID = "spark-keys-joined"
	sparkAllKeys    RuleID = "spark-all-keys"
	sparkSubset     RuleID = "spark-subset"
	sparkOrder      RuleID = "spark-order"
	sparkSame       RuleID = "spark-same-transform"
	sparkCompatible RuleID = "spark-compatible"
	sparkNullFails  RuleID = "spark-null-fails"
	sparkLosesRows  RuleID = "spark-loses-rows"
	sparkPinned     RuleID = "spark-shuffled-parts"
	sparkOneSide    RuleID = "spark-one-side"
	sparkKept       RuleID = "spark-kept"
	sparkDeletes    RuleID = "spark-deletes"
	sparkPartial    RuleID = "spark-partial"
	sparkBroadcast  RuleID = "spark-broadcast"
	sparkAdaptive   RuleID = "spark-adaptive"

	trinoEnabled   RuleID = "trino-enabled"
	trinoPartition RuleID = "trino-partitioned"
	trinoSpecs     RuleID = "trino-one-spec"
	trinoEquality  RuleID = "trino-equality"
	trinoTypes     RuleID = "trino-types"
	trinoJoined    RuleID = "trino-keys-joined"
	trinoSame      RuleID = "trino-same-layout"
	trinoKept      RuleID = "trino-kept"
)

const (
	icebergScan      = "apache/iceberg spark/v4.1 source/SparkPartitioningAwareScan.java, core Partitioning.groupingKeyType"
	icebergFunctions = "apache/iceberg spark/v4.1 functions/BucketFunction.java, HoursFunction.java"
	sparkEnsure      = "apache/spark sql/core execution/exchange/EnsureRequirements.scala"
	sparkPhysical    = "apache/spark sql/catalyst plans/physical/partitioning.scala"
	trinoMetadata    = "trinodb/trino plugin/trino-iceberg IcebergMetadata.java, getTablePartitioning"
	trinoHandle      = "trinodb/trino plugin/trino-iceberg IcebergPartitioningHandle.java"
	trinoContract    = "assumed from what ConnectorTablePartitioning promises to the planner"
	sparkSeen        = "seen in plans of Spark 4.1.4"
)

// rules is the one place where the preconditions stand.
var rules = []rule{
	{tarnPlan, Tarn, "the planner found a strategy without a shuffle; EXPLAIN says the same", "internal/explain"},

	{sparkGrouping, Spark, "Iceberg tells Spark of a table's layout", icebergScan},
	{sparkReadable, Spark, "Spark can read the table: no column of type time or timestamp_ns, no unknown transform", "apache/iceberg spark/v4.1 TypeToSparkType.java, core Partitioning.java"},
	{sparkFiles, Spark, "a file is left to read: a scan without files has no layout", icebergScan},
	{sparkPartition, Spark, "the table is partitioned, by a column that the query reads", icebergScan},
	{sparkSpecs, Spark, "a partition field counts only if it stands, by its ID, in the spec of every file that is read", icebergScan},
	{sparkTransform, Spark, "no field of the layout is a truncate: one such field, if the query reads its column, hides the whole layout", sparkSeen},
	{sparkFilterOnly, Spark, "a column of the layout that the query reads is needed above the filters too: one that only filters mention is dropped after them, and the layout with it", sparkSeen},
	{sparkEquality, Spark, "the condition has an equality between plain columns of both sides", sparkEnsure},
	{sparkTypes, Spark, "both columns of the equality have one Spark type: a cast, int to bigint too, hides the layout of its side", sparkPhysical},
	{sparkFloat, Spark, "the key isn't float or double, which Spark normalises before it compares", sparkSeen},
	{sparkNullSafe, Spark, "the comparison is =, not <=> or IS NOT DISTINCT FROM, which Spark takes apart into two expressions", sparkSeen},
	{sparkJoined, Spark, "the equalities are about columns of the layout", sparkPhysical},
	{sparkAllKeys, Spark, "the equalities are about the columns of the layout and no others", sparkEnsure},
	{sparkSubset, Spark, "each column of the layout that the query reads is in an equality", sparkPhysical},
	{sparkOrder, Spark, "both layouts have as many fields, and they match in the order of their partition field IDs", sparkPhysical},
	{sparkSame, Spark, "the matching fields have one transform", sparkPhysical},
	{sparkCompatible, Spark, "bucket counts with a common divisor, or hours against days", icebergFunctions},
	{sparkNullFails, Spark, "no NULL key on a side whose buckets or hours are reduced: Iceberg's reducer fails on it with a NullPointerException", icebergFunctions},
	{sparkLosesRows, Spark, "no third table is joined by the layout that a join of unlike bucket counts has reduced: Spark still takes it for the unreduced one, and loses rows", sparkEnsure},
	{sparkOneSide, Spark, "if one side alone has a layout, only the other one is shuffled", sparkPhysical},
	{sparkPinned, Spark, "what was shuffled into one table's partitions is joined only with tables that have no others: else Spark fails to plan", sparkSeen},
	{sparkKept, Spark, "what lies between the table and the join keeps the layout: a full join doesn't, nor a UNION ALL of unlike sides, nor a grouping by other columns", sparkSeen},
	{sparkDeletes, Spark, "deletes change nothing: position deletes, deletion vectors and equality deletes are applied while a file is read", sparkSeen},
	{sparkPartial, Spark, "partiallyClusteredDistribution is off: with it unlike transforms and the shuffle of one side are not considered", sparkPhysical},
	{sparkBroadcast, Spark, "a side below spark.sql.autoBroadcastJoinThreshold is broadcast instead, without a shuffle", "Spark's documentation, SQL performance tuning"},
	{sparkAdaptive, Spark, "adaptive execution changes nothing: it starts from the plan that these rules give", sparkSeen},

	{trinoEnabled, Trino, "bucket execution is on, as it is by default", "trino.io docs, release 468 and connector/iceberg"},
	{trinoPartition, Trino, "the table is partitioned", trinoMetadata},
	{trinoSpecs, Trino, "the table has had one partition spec only, whether files use it or not", trinoMetadata},
	{trinoEquality, Trino, "the condition has an equality, by =, between plain columns of both sides", trinoContract},
	{trinoTypes, Trino, "both columns of the equality have one type", trinoHandle},
	{trinoJoined, Trino, "every column of the layout is in an equality", trinoContract},
	{trinoSame, Trino, "both specs are the same: fields, transforms and parameters, in one order", trinoHandle},
	{trinoKept, Trino, "what lies between the table and the join keeps the layout", trinoContract},
}

// setting is a setting of Spark that the model knows.
type setting struct {
	Name    string
	Default string
	Want    string
	Rule    RuleID
	Why     string
}

const bucketing = "spark.sql.sources.v2.bucketing."

// Places of the settings in sparkSettings.
const (
	preserveGrouping = iota
	anyClusterKeys
	allowSubset
	allowCompatible
	shuffleOneSide
)

// sparkSettings are those that a join may need, with Spark 4.1's defaults. Those that must stay at their default, which
// are bucketing.enabled, pushPartValues and partiallyClusteredDistribution, are in docs/check.md.
var sparkSettings = []setting{
	preserveGrouping: {"spark.sql.iceberg.planning.preserve-data-grouping", "false", "true", sparkGrouping, "else Iceberg doesn't tell Spark of the layout"},
	anyClusterKeys:   {"spark.sql.requireAllClusterKeysForCoPartition", "true", "false", sparkAllKeys, "the layout covers only some of the joined columns"},
	allowSubset:      {bucketing + "allowJoinKeysSubsetOfPartitionKeys.enabled", "false", "true", sparkSubset, "the layout has a column that isn't joined"},
	allowCompatible:  {bucketing + "allowCompatibleTransforms.enabled", "false", "true", sparkCompatible, "the transforms differ and have a common one"},
	shuffleOneSide:   {bucketing + "shuffle.enabled", "false", "true", sparkOneSide, "else both sides are shuffled"},
}

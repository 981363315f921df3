// Package plantest takes queries through bind, plan, task and explain as a session does, over the tables of a testcat
// text. Tests of the planner's stages use it; nothing else does.
//
// Names are bound by a real DuckDB, which reads no data. What a test does with the plan is its own affair.
package plantest

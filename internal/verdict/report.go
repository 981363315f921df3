package verdict

// Shuffle says how much of a join's input moves before it is joined.
type Shuffle string

// The amounts. Broadcast sends one whole side everywhere, and no side is divided by keys. Refused is a join of a table that
// the engine can't read.
const (
	None      Shuffle = "none"
	Broadcast Shuffle = "broadcast"
	OneSide   Shuffle = "one side"
	BothSides Shuffle = "both sides"
	Refused   Shuffle = "refused"
)

// Report is what each engine would do with each join of a query.
type Report struct {
	Joins   []Join   `json:"joins"` // those inside others first
	Engines []Engine `json:"engines"`
}

// Engine is an engine that was judged.
type Engine struct {
	Name    string `json:"engine"`
	Version string `json:"version"`
	// Verified says that the rules were compared with what the engine itself does.
	Verified bool `json:"verified"`
	// Settings are those that its verdicts need and that aren't its defaults.
	Settings []Setting `json:"settings"`
}

// Setting is a setting that must not be left at its default.
type Setting struct {
	Name      string `json:"name"`
	Value     string `json:"value"`
	Default   string `json:"default"`
	Rule      RuleID `json:"rule"`
	Why       string `json:"why"`
	Statement string `json:"statement"`
}

// Join is one join and the verdicts on it.
type Join struct {
	Name      string    `json:"join"`
	Condition string    `json:"condition"`
	Tables    []string  `json:"tables"` // that it joins, in the order of the text
	Verdicts  []Verdict `json:"verdicts"`
}

// Verdict is what one engine would do.
type Verdict struct {
	Engine  string  `json:"engine"`
	Shuffle Shuffle `json:"shuffle"`
	// Problems are the preconditions that fail; none when nothing is shuffled.
	Problems []Finding `json:"problems"`
	// Settings are the names of those that this join needs.
	Settings []string `json:"settings"`
	// Notes are findings that change nothing in the verdict.
	Notes []Finding `json:"notes"`

	isWhole bool // in Tarn: not by groups at all
}

// Finding is a precondition with what was found and what mends it.
type Finding struct {
	Rule RuleID `json:"rule"`
	What string `json:"what"`
	Mend string `json:"mend,omitempty"` // a statement, or what to write instead
}

// IsFine says whether the join runs without a shuffle and without a fault.
func (v Verdict) IsFine() bool {
	return (v.Shuffle == None || v.Shuffle == Broadcast) && len(v.Problems) == 0
}

// Failing returns the engines in which some join isn't fine.
func (r *Report) Failing() []string {
	var out []string
	for _, e := range r.Engines {
		for _, j := range r.Joins {
			if v, ok := j.by(e.Name); ok && !v.IsFine() {
				out = append(out, e.Name)
				break
			}
		}
	}
	return out
}

// Only returns the report of the engines that keep accepts.
func (r *Report) Only(keep func(engine string) bool) *Report {
	out := &Report{Joins: []Join{}, Engines: []Engine{}}
	for _, e := range r.Engines {
		if keep(e.Name) {
			out.Engines = append(out.Engines, e)
		}
	}
	for _, j := range r.Joins {
		all := j.Verdicts
		j.Verdicts = []Verdict{}
		for _, v := range all {
			if keep(v.Engine) {
				j.Verdicts = append(j.Verdicts, v)
			}
		}
		out.Joins = append(out.Joins, j)
	}
	return out
}

func (j Join) by(engine string) (Verdict, bool) {
	for _, v := range j.Verdicts {
		if v.Engine == engine {
			return v, true
		}
	}
	return Verdict{}, false
}

// EngineNames lists the engines that a report has.
func EngineNames() []string {
	out := make([]string, len(engines))
	for i, e := range engines {
		out[i] = e.Name
	}
	return out
}

package evolve

import (
	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/sql"
)

// distributionMode is the property that says how rows are spread over writers.
const distributionMode = "write.distribution-mode"

func (d *draft) writeOrder(c sql.WriteOrder) error {
	var fields []catalog.SortField
	for _, f := range c.Fields {
		b, err := d.bind(f.Term)
		if err != nil {
			return errs.Wrap(errs.Invalid, "order by", termSQL(f.Term), err)
		}
		fields = append(fields, catalog.SortField{Source: b.source, Transform: b.transform, Descending: f.Descending, NullsLast: f.NullsLast})
	}
	d.useOrder(fields)
	if c.Distribution != "" {
		d.Properties[distributionMode] = c.Distribution
	}
	return nil
}

package sql

// alterPartition reads ADD, DROP and REPLACE PARTITION FIELD.
func (p *parser) alterPartition() (Change, error) {
	verb := p.tokens[p.pos]
	p.pos++
	if err := p.expect("partition", "field"); err != nil {
		return nil, err
	}
	term, err := p.term()
	if err != nil {
		return nil, err
	}
	switch {
	case verb.is("drop"):
		return DropPartitionField{term}, nil
	case verb.is("add"):
		name, err := p.fieldName()
		return AddPartitionField{term, name}, err
	}
	if err := p.expect("with"); err != nil {
		return nil, err
	}
	next, err := p.term()
	if err != nil {
		return nil, err
	}
	name, err := p.fieldName()
	return ReplacePartitionField{Old: term, New: next, Name: name}, err
}

// fieldName reads [AS name].
func (p *parser) fieldName() (string, error) {
	if !p.acceptAny("as") {
		return "", nil
	}
	return p.identifier("the partition field's name")
}

// writeOrder reads [DISTRIBUTED BY PARTITION] [[LOCALLY] ORDERED BY ...], in any order, or UNORDERED. As in Spark, an order of
// the whole table distributes rows by range, and a local one leaves the distribution as it is.
func (p *parser) writeOrder() (Change, error) {
	var w WriteOrder
	if p.acceptAny("unordered") {
		w.Distribution = "none"
		return w, nil
	}
	isDistributed, isOrdered := false, false
	for {
		at, ok := p.peek()
		switch {
		case !isDistributed && p.acceptAny("distributed"):
			isDistributed = true
			if err := p.expect("by", "partition"); err != nil {
				return nil, err
			}
		case !isOrdered && p.acceptAny("locally", "ordered"):
			isOrdered = true
			if at.is("locally") {
				if err := p.expect("ordered"); err != nil {
					return nil, err
				}
			} else {
				w.Distribution = "range"
			}
			if err := p.orderFields(&w); err != nil {
				return nil, err
			}
		case !ok && (isDistributed || isOrdered):
			if isDistributed {
				w.Distribution = "hash"
			}
			return w, nil
		default:
			return nil, p.wanted("ORDERED BY, LOCALLY ORDERED BY, DISTRIBUTED BY PARTITION or UNORDERED")
		}
	}
}

func (p *parser) orderFields(w *WriteOrder) error {
	if err := p.expect("by"); err != nil {
		return err
	}
	return p.listed(func() error {
		f, err := p.orderField()
		w.Fields = append(w.Fields, f)
		return err
	})
}

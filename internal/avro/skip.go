package avro

// Skip reads over a value.
func (d *Decoder) Skip(s *Schema) {
	switch s.Kind {
	case Null:
	case Boolean:
		d.Fixed(1)
	case Int, Long, Enum:
		d.Long()
	case Float:
		d.Fixed(4)
	case Double:
		d.Fixed(8)
	case Bytes, String:
		d.Bytes()
	case Fixed:
		d.Fixed(s.Size)
	case Record:
		for i := range s.Fields {
			d.Skip(s.Fields[i].Type)
		}
	case Array, Map:
		d.skipItems(s)
	case Union:
		if branch := d.Branch(s); branch != nil {
			d.Skip(branch)
		}
	}
}

// skipItems jumps over items whose size is given.
func (d *Decoder) skipItems(s *Schema) {
	it := d.Items(s)
	for {
		items, bytes := it.block()
		switch {
		case items == 0:
			return
		case bytes >= 0:
			d.Fixed(int(bytes))
			continue
		}
		for ; items > 0 && d.err == nil; items-- {
			if s.Kind == Map {
				d.Bytes()
			}
			d.Skip(s.Items)
		}
	}
}

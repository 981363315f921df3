package sql

import "math"

// alterRef reads CREATE [OR REPLACE], REPLACE and DROP of a BRANCH or a TAG.
func (p *parser) alterRef() (Change, error) {
	if p.acceptAny("drop") {
		return p.dropRef()
	}
	var c CreateRef
	if c.Create = p.acceptAny("create"); c.Create {
		c.Replace = p.acceptAll("or", "replace")
	} else if c.Replace = p.acceptAny("replace"); !c.Replace {
		return nil, p.wanted("CREATE, REPLACE or DROP")
	}
	if c.IsTag = p.acceptAny("tag"); !c.IsTag && !p.acceptAny("branch") {
		return nil, p.wanted("BRANCH or TAG")
	}
	var err error
	if !c.Replace {
		if c.IfNotExists, err = p.ifNotExists(); err != nil {
			return nil, err
		}
	}
	if c.Name, err = p.identifier("the name of the branch or tag"); err == nil {
		err = p.refOptions(&c)
	}
	return c, err
}

func (p *parser) dropRef() (Change, error) {
	var d DropRef
	if d.IsTag = p.acceptAny("tag"); !d.IsTag {
		if err := p.expect("branch"); err != nil {
			return nil, err
		}
	}
	var err error
	if d.IfExists, err = p.ifExists(); err == nil {
		d.Name, err = p.identifier("the name of the branch or tag")
	}
	return d, err
}

// refOptions reads [AS OF VERSION n] [RETAIN n DAYS] and, of a branch, [WITH SNAPSHOT RETENTION [n SNAPSHOTS] [n DAYS]].
func (p *parser) refOptions(c *CreateRef) error {
	if p.acceptAny("as") {
		if err := p.expect("of", "version"); err != nil {
			return err
		}
		id, err := p.integer("a snapshot's ID", math.MaxInt64)
		if err != nil {
			return err
		}
		c.Snapshot = &id
	}
	if p.acceptAny("retain") {
		n, err := p.positive("how long to keep it")
		if err == nil {
			c.MaxRefAgeMs, err = p.duration(n)
		}
		if err != nil {
			return err
		}
	}
	if c.IsTag || !p.acceptAny("with") {
		return nil
	}
	if err := p.expect("snapshot", "retention"); err != nil {
		return err
	}
	return p.snapshotRetention(c)
}

func (p *parser) snapshotRetention(c *CreateRef) error {
	n, err := p.positive("how many snapshots, or how long, to keep")
	if err != nil {
		return err
	}
	if p.acceptAny("snapshots") {
		c.MinSnapshots = int(n)
		if _, ok := p.peek(); !ok {
			return nil
		}
		if n, err = p.positive("how long to keep snapshots"); err != nil {
			return err
		}
	}
	c.MaxSnapshotMs, err = p.duration(n)
	return err
}

func (p *parser) positive(what string) (int64, error) {
	t, _ := p.peek()
	n, err := p.integer(what, math.MaxInt32)
	if err == nil && n == 0 {
		err = syntaxAt(p.src, t.start, "found 0, wanted %s, from 1", what)
	}
	return n, err
}

// duration reads the unit of n and returns milliseconds.
func (p *parser) duration(n int64) (int64, error) {
	const minute = int64(60_000)
	switch {
	case p.acceptAny("days"):
		return n * 24 * 60 * minute, nil
	case p.acceptAny("hours"):
		return n * 60 * minute, nil
	case p.acceptAny("minutes"):
		return n * minute, nil
	}
	return 0, p.wanted("DAYS, HOURS or MINUTES")
}

package lake

import (
	"bytes"
	"compress/gzip"
	"encoding/json"

	"github.com/apache/iceberg-go/table"

	"github.com/tarndb/tarn/internal/errs"
)

// draftOf writes metadata down as the table's properties want it.
func draftOf(meta table.Metadata) (draft, error) {
	body, err := json.Marshal(meta)
	if err != nil {
		return draft{}, errs.Wrap(errs.Internal, "write metadata", meta.Location(), err)
	}
	return packed(meta, body)
}

// draftAfter writes the version after base down. Schemas that base has are written as they stand there: iceberg-go holds
// the numbers among their defaults as float64, and so would lose the low digits of a long.
func draftAfter(base *handle, meta table.Metadata) (draft, error) {
	body, err := json.Marshal(meta)
	if err == nil && hasDefaults(base.raw) {
		body, err = keepSchemas(body, base.raw)
	}
	if err != nil {
		return draft{}, errs.Wrap(errs.Internal, "write metadata", meta.Location(), err)
	}
	return packed(meta, body)
}

func packed(meta table.Metadata, body []byte) (draft, error) {
	next := draft{folder: metadataFolder(meta), body: body, gzipped: meta.Properties()["write.metadata.compression-codec"] == "gzip"}
	if !next.gzipped {
		return next, nil
	}
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write(body)
	if err == nil {
		err = w.Close()
	}
	next.body = out.Bytes()
	return next, errs.Wrap(errs.Internal, "write metadata", meta.Location(), err)
}

// keepSchemas puts the schemas of older metadata JSON in the place of those of the same IDs.
func keepSchemas(body, older []byte) ([]byte, error) {
	old, err := schemasByID(older)
	if err != nil {
		return nil, err
	}
	var doc map[string]json.RawMessage
	if err := json.Unmarshal(body, &doc); err != nil {
		return nil, err
	}
	var schemas []json.RawMessage
	if err := json.Unmarshal(doc["schemas"], &schemas); err != nil {
		return nil, err
	}
	for i, s := range schemas {
		id, err := schemaID(s)
		if err != nil {
			return nil, err
		}
		if kept, ok := old[id]; ok {
			schemas[i] = kept
		}
	}
	if doc["schemas"], err = json.Marshal(schemas); err != nil {
		return nil, err
	}
	return json.Marshal(doc)
}

func schemasByID(metadata []byte) (map[int]json.RawMessage, error) {
	var doc struct {
		Schemas []json.RawMessage `json:"schemas"`
	}
	if err := json.Unmarshal(metadata, &doc); err != nil {
		return nil, err
	}
	out := map[int]json.RawMessage{}
	for _, s := range doc.Schemas {
		id, err := schemaID(s)
		if err != nil {
			return nil, err
		}
		out[id] = s
	}
	return out, nil
}

func schemaID(schema json.RawMessage) (int, error) {
	var head struct {
		ID int `json:"schema-id"`
	}
	err := json.Unmarshal(schema, &head)
	return head.ID, err
}

package lake

import (
	"bytes"
	"compress/gzip"
	"encoding/json"

	"github.com/apache/iceberg-go/table"

	"github.com/tarndb/tarn/internal/errs"
)

// draftOf writes the first version of a table down. It isn't compressed, whatever its properties say: see draftAfter.
func draftOf(meta table.Metadata) (draft, error) {
	body, err := json.Marshal(meta)
	if err != nil {
		return draft{}, errs.Wrap(errs.Internal, "write metadata", meta.Location(), err)
	}
	return draft{folder: metadataFolder(meta), body: body}, nil
}

// draftAfter writes the version after base down, and compresses it where base's properties say so. Those of the new version
// don't count: in a hadoop catalog the name of a version's file keeps two writers apart, and that ends by the compression, so
// writers who change different things of one base must all give it the same name.
//
// Schemas that base has are written as they stand there: iceberg-go holds the numbers among their defaults as float64, and so
// would lose the low digits of a long.
func draftAfter(base *handle, meta table.Metadata) (draft, error) {
	next, err := draftOf(meta)
	if err == nil && hasDefaults(base.raw) {
		next.body, err = keepSchemas(next.body, base.raw)
	}
	if err == nil && base.meta.Properties()["write.metadata.compression-codec"] == "gzip" {
		next.gzipped = true
		next.body, err = zipped(next.body)
	}
	return next, errs.Wrap(errs.Internal, "write metadata", meta.Location(), err)
}

func zipped(body []byte) ([]byte, error) {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write(body)
	if err == nil {
		err = w.Close()
	}
	return out.Bytes(), err
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

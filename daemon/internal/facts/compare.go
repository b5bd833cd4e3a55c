package facts

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"fulmen/daemon/api"
	"fulmen/native"
)

// comparedAreas are those of which facts are compared: the others move while they are read.
func comparedAreas() []native.Area {
	return []native.Area{native.AreaIdentity, native.AreaThunderbolt, native.AreaRDMA, native.AreaNetwork}
}

// The two of a fact that was published: what a node says, and what its system says now.
const (
	fromDocument = "Fulmen"
	fromSystem   = "the system now"
)

// Compare reads the machine anew and holds each fact against the document that was published
// of it, in the order of kinds. A fact that moved without an event, or that was read wrongly,
// differs.
func (o *Owner) Compare(ctx context.Context, published []api.Document) ([]native.Comparison, error) {
	snapshot, err := o.platform.Snapshot(ctx, comparedAreas()...)
	if err != nil {
		return nil, err
	}
	o.mu.Lock()
	static := o.static
	o.mu.Unlock()
	k := knowledge{held: snapshot, silent: map[native.Area]api.Reason{}}
	var out []native.Comparison
	for _, area := range comparedAreas() {
		if !snapshot.Has(area) {
			out = append(out, native.Comparison{Fact: string(area), Sources: [2]string{fromDocument, fromSystem}, Why: snapshot.Unknown[string(area)]})
			continue
		}
		for _, fact := range k.facts(api.Kind(area), static) {
			name := strings.TrimSpace(string(fact.Kind) + " " + fact.Name)
			i := slices.IndexFunc(published, func(d api.Document) bool { return d.Kind == fact.Kind && d.Name == fact.Name })
			if i < 0 {
				out = append(out, native.Comparison{Fact: name, Sources: [2]string{fromDocument, fromSystem}, Reported: [2]string{"not there", "there"}})
				continue
			}
			rows, err := compareFields(name, published[i].Value, fact)
			if err != nil {
				return nil, err
			}
			out = append(out, rows...)
		}
	}
	return out, nil
}

// compareFields tells each field of a value by a document and by a fact.
func compareFields(name string, document json.RawMessage, fact Fact) ([]native.Comparison, error) {
	raw, err := json.Marshal(fact.Value)
	if err != nil {
		return nil, err
	}
	ours, theirs := map[string]string{}, map[string]string{}
	if err := errors.Join(flatten(name, document, ours), flatten(name, raw, theirs)); err != nil {
		return nil, err
	}
	all := maps.Clone(ours)
	maps.Copy(all, theirs)
	var out []native.Comparison
	for _, field := range slices.Sorted(maps.Keys(all)) {
		c := native.Comparison{Fact: field, Sources: [2]string{fromDocument, fromSystem}, Reported: [2]string{ours[field], theirs[field]}}
		c.Same = c.Reported[0] == c.Reported[1]
		if _, last, _ := strings.Cut(field, ", "); c.Reported[1] == "" {
			c.Why = native.Reason(fact.Unknown[last])
		}
		out = append(out, c)
	}
	return out, nil
}

// ownFields are Fulmen's words in documents of facts, and not the machine's.
func ownFields() []string {
	return []string{"public_key", "fulmen_version", "protocol", "started_at", "probes_since_boot", "mlx_version", "mlx_backends", "mlx_devices"}
}

// flatten gives the fields of a value by their names for people, and those of each named
// element of a list.
func flatten(name string, value json.RawMessage, into map[string]string) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(value, &fields); err != nil {
		return err
	}
	for field, raw := range fields {
		var elements []json.RawMessage
		named := json.Unmarshal(raw, &elements) == nil
		for _, element := range elements {
			named = named && nameOf(element) != ""
		}
		switch {
		case slices.Contains(ownFields(), field):
		case named && len(elements) > 0:
			for _, element := range elements {
				if err := flatten(name+" "+nameOf(element), element, into); err != nil {
					return err
				}
			}
		default:
			into[name+", "+field] = compact(raw)
		}
	}
	return nil
}

// nameOf is the name of an element; empty where it has none.
func nameOf(element json.RawMessage) string {
	var named struct {
		Name string `json:"name"`
	}
	if json.Unmarshal(element, &named) != nil {
		return ""
	}
	return named.Name
}

// compact is a value as one line, without its quotes where it is a text.
func compact(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	var out bytes.Buffer
	if json.Compact(&out, value) != nil {
		return ""
	}
	return out.String()
}

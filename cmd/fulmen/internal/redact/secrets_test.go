package redact

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"fulmen/daemon/api"
	"fulmen/native/nativetest/testkit"
)

// planter makes texts with a secret at every place that holds a text.
type planter struct {
	*rand.Rand
	secrets []string
}

// secret is a new one, in one of the shapes that people's texts have.
func (p *planter) secret() string {
	s := []func() string{
		func() string { return p.word("abcdefghijklmnopqrstuvwxyz", 7) },
		func() string { return p.word("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", 12) },
		func() string { return p.word("0123456789", 10) },
		func() string { return p.word("0123456789abcdef", 40) },
		func() string { return p.word("0123456789abcdef", 32) },
		func() string { return p.word("ab\"\\ \n\t\x1b<&>üß日\u2028=:/@,'{}[]", 12) + p.word("kqxz", 9) },
		func() string { return "/Users/" + p.lower() + "/" + p.lower() },
		func() string { return "--" + p.lower() + "=" + p.lower() },
		func() string { return p.lower() + "@" + p.lower() + ".org" },
		func() string { return p.lower() + ": " + p.lower() },
		func() string { return p.lower() + "." + p.lower() },
		func() string { return p.lower() + "_" + p.lower() },
		func() string { return p.lower() + "-" + p.lower() + "/" + p.lower() },
		func() string { return "Apple " + p.lower() },
		func() string { return p.lower() + "@" + node },
		func() string {
			return fmt.Sprintf("%d.%d.%d.%d", 11+p.IntN(80), 100+p.IntN(99), 100+p.IntN(99), 100+p.IntN(99))
		},
		func() string {
			return node + "/" + fmt.Sprintf("2001:db8:%04x:%04x::%04x", 0x1000+p.IntN(0xefff), 0x1000+p.IntN(0xefff), 0x1000+p.IntN(0xefff))
		},
		func() string { return `{"` + p.lower() + `":"` + p.lower() + `"}` },
	}[p.IntN(18)]()
	p.secrets = append(p.secrets, strings.ReplaceAll(s, node, ""))
	return s
}

func (p *planter) lower() string { return p.word("abcdefghijklmnopqrstuvwxyz", 9) }

func (p *planter) word(letters string, n int) string {
	all := []rune(letters)
	out := make([]rune, n)
	for i := range out {
		out[i] = all[p.IntN(len(all))]
	}
	return string(out)
}

// plant makes what JSON decodes a value of a type to, with a secret for every text, and
// fields beside those that the type has.
func (p *planter) plant(t reflect.Type) any {
	switch {
	case t == reflect.TypeFor[api.Document]():
		kinds := api.Kinds()
		return p.document(kinds[p.IntN(len(kinds))])
	case t == reflect.TypeFor[json.RawMessage](), reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		return p.secret()
	}
	switch t.Kind() {
	case reflect.Pointer:
		return p.plant(t.Elem())
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return p.secret()
		}
		return []any{p.plant(t.Elem()), p.plant(t.Elem())}
	case reflect.Map:
		return map[string]any{p.secret(): p.plant(t.Elem()), p.secret(): p.secret()}
	case reflect.Struct:
		out := map[string]any{p.secret(): map[string]any{p.secret(): []any{p.secret(), 1}}}
		fields := fieldsOf(t, nil)
		for _, name := range slices.Sorted(maps.Keys(fields)) { // in order: a seed gives the same secrets each time
			at := fields[name]
			if at.t == nil {
				at.t = reflect.TypeFor[string]()
			}
			out[name] = p.plant(at.t)
		}
		return out
	case reflect.String:
		return p.secret()
	case reflect.Bool:
		return true
	}
	return 7
}

// document is one of a kind, with secrets for its name and in its value.
func (p *planter) document(info api.KindInfo) map[string]any {
	name := p.secret()
	if info.Name == api.NameCondition {
		name = string(api.ReasonLinkTooSlow) + "/" + name
	}
	value := p.plant(info.Value).(map[string]any)
	if info.Kind == api.KindJob {
		value["spec"] = p.plant(reflect.TypeFor[api.JobSpec]())
	}
	return map[string]any{"node": p.secret(), "kind": string(info.Kind), "name": name, "value": value, "sig": p.secret(), "at": p.secret(),
		"unknown": map[string]any{p.secret(): p.secret()}, p.secret(): p.secret()}
}

// piece is a part of a secret that gives it away, however it is written: as JSON, quoted
// or split.
var piece = regexp.MustCompile(`[a-z0-9]{6,}`)

// leaked is a secret that can be found in a text; empty where there is none.
func (p *planter) leaked(text string) string {
	text = strings.ToLower(text)
	for _, secret := range p.secrets {
		quoted, _ := json.Marshal(secret)
		for _, s := range append(piece.FindAllString(strings.ToLower(secret), -1), secret, string(quoted), strconv.Quote(secret)) {
			if strings.Contains(text, strings.ToLower(s)) {
				return fmt.Sprintf("%q of %q", s, secret)
			}
		}
	}
	return ""
}

// everywhere are the types of a report's files, and all kinds of documents.
func everywhere() map[string]func(*planter) (reflect.Type, any) {
	all := map[string]func(*planter) (reflect.Type, any){
		"unknown kind": func(p *planter) (reflect.Type, any) {
			return reflect.TypeFor[api.Document](), map[string]any{"kind": p.secret(), "name": p.secret(), "value": map[string]any{p.secret(): p.secret()}}
		},
		"unknown type": func(p *planter) (reflect.Type, any) { return nil, map[string]any{p.secret(): p.secret()} },
		"no object":    func(p *planter) (reflect.Type, any) { return reflect.TypeFor[api.Error](), p.secret() },
	}
	for _, info := range api.Kinds() {
		all[string(info.Kind)] = func(p *planter) (reflect.Type, any) { return reflect.TypeFor[api.Document](), p.document(info) }
	}
	for _, t := range []reflect.Type{reflect.TypeFor[api.DaemonInfoResult](), reflect.TypeFor[api.DaemonDoctorResult](), reflect.TypeFor[api.DaemonConfigResult](),
		reflect.TypeFor[api.NodeListResult](), reflect.TypeFor[api.NodeConditionsResult](), reflect.TypeFor[api.MeasureListResult](),
		reflect.TypeFor[api.StateGetResult](), reflect.TypeFor[api.Error]()} {
		all[t.Name()] = func(p *planter) (reflect.Type, any) { return t, p.plant(t) }
	}
	return all
}

// No secret is left of any text of any document or answer, whatever it looks like.
func TestNoSecretIsInJSON(t *testing.T) {
	for name, make := range everywhere() {
		t.Run(name, func(t *testing.T) {
			for seed := range testkit.Upto(t, 12) {
				p := &planter{Rand: seed.Source(1)}
				typ, v := make(p)
				raw, err := json.Marshal(v)
				if err != nil {
					t.Fatal(err)
				}
				if got := p.leaked(New().JSON(typ, raw)); got != "" {
					t.Fatalf("seed %d: the report has %s", seed, got)
				}
			}
		})
	}
}

// No secret is left of any value of a line of the log, under any name, nor of a line
// that is not the log's.
func TestNoSecretIsInLines(t *testing.T) {
	names := strings.Fields(`node peer job rank link end reason code condition kind phase state area method version level interface peer_interface
		receptacle port uid n more bytes documents ranks exit_code attempt pid again_in error err path from at account name principal cluster line
		msg package time`)
	for seed := range testkit.Upto(t, 25) {
		p := &planter{Rand: seed.Source(2)}
		var out bytes.Buffer
		log := slog.New(slog.NewTextHandler(&out, nil)).With("package", "rank")
		for _, name := range names {
			log.Info("a constant", name, p.secret(), "more", []string{p.secret()})
		}
		r := New()
		for line := range strings.Lines(out.String() + strings.ReplaceAll(p.secret()+p.secret(), "\n", " ") + "\n") {
			line = strings.TrimSuffix(line, "\n")
			if got := p.leaked(r.Line(line)); got != "" {
				t.Fatalf("seed %d: of %s the report has %s", seed, line, got)
			}
		}
	}
}

func FuzzLine(f *testing.F) {
	f.Add("node", "secretname", "x")
	f.Add("error", "open /Users/ada/secretname: permission denied", "=")
	f.Add("at", "secretname msg=\"", "\n")
	f.Fuzz(func(t *testing.T, key, before, after string) {
		const secret = "secretname"
		var out bytes.Buffer
		slog.New(slog.NewTextHandler(&out, nil)).Info("a constant", "key", before+secret+after)
		r := New()
		if got := r.Line(strings.TrimSpace(out.String())); strings.Contains(got, secret) || !strings.Contains(got, `msg="a constant"`) {
			t.Fatalf("%q became %q", out.String(), got)
		}
		if got := r.Line(key + before + secret + after); strings.Contains(got, secret) && !strings.Contains(got, "msg=") {
			t.Fatalf("%q is in %q", secret, got)
		}
		r.JSON(nil, []byte(before))
	})
}

package api

import (
	"encoding"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// wireTypes is every struct that travels, found from the tables.
func wireTypes() map[reflect.Type]bool {
	seen := map[reflect.Type]bool{}
	for _, root := range []any{Document{}, Key{}, Version{}, Request{}, Response{}, Error{}, PeerConn{}, APIAddress{}, JobSpec{}, ReasonInfo{}} {
		collect(reflect.TypeOf(root), seen)
	}
	for _, info := range Kinds() {
		collect(info.Value, seen)
	}
	for _, m := range slices.Concat(Methods(), PeerMethods()) {
		collect(m.Params, seen)
		collect(m.Result, seen)
	}
	for _, n := range slices.Concat(Notifications(), PeerNotifications()) {
		collect(n.Params, seen)
	}
	return seen
}

func collect(t reflect.Type, seen map[reflect.Type]bool) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		collect(t.Elem(), seen)
	case reflect.Struct:
		if seen[t] || t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
			return
		}
		seen[t] = true
		for i := range t.NumField() {
			collect(t.Field(i).Type, seen)
		}
	}
}

// jsonFields is a struct's fields on the wire by name, embedded ones included.
func jsonFields(t reflect.Type) map[string]reflect.StructField {
	fields := map[string]reflect.StructField{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			for inner, field := range jsonFields(f.Type) {
				if _, twice := fields[inner]; twice {
					panic(t.Name() + " has " + inner + " twice")
				}
				fields[inner] = field
			}
		case name != "-":
			if _, twice := fields[name]; twice {
				panic(t.Name() + " has " + name + " twice")
			}
			fields[name] = f
		}
	}
	return fields
}

// units are what the name of a number ends with. Counts are numbers of things
// and have none; they are listed one by one, so that a new number is thought about.
var (
	units  = regexp.MustCompile(`(^|_)(bytes|bits_per_s|bytes_per_s|us|s|tflops|watts|celsius|hz|ratio)$`)
	counts = strings.Fields(`attempt before bits code columns completion_queues count counted_attempts cpu_cores cpu_efficiency_cores cpu_performance_cores dropped epoch exit_code failure_threshold file_count from_epoch voted_epoch
		first_failed from gpu_cores group_size inc index joined left_out line_position matrix_size max_attempts max_nodes max_priority measured_nodes
		members memory_regions min_nodes missing missing_count n nodes parameters peer_port pid port ports position power_nodes priority probes_since_boot problems
		protection_domains protocol protocol_min queue_pairs rank ranks ranks_per_node receptacle receptacles redacted replica replicas retried retries rows
		rtt_samples runs rx_lanes seq signal stacks streams suspect tail_lines to tries_left tx_lanes unverified verified`)
)

func TestTags(t *testing.T) {
	types := wireTypes()
	if len(types) < 100 {
		t.Fatalf("found only %d types", len(types))
	}
	used := map[string]bool{}
	for typ := range types {
		for name, f := range jsonFields(typ) {
			if !isSnakeCase(name) {
				t.Errorf("%s.%s: %q is not snake_case", typ.Name(), f.Name, name)
			}
			if !isNumber(f.Type) {
				continue
			}
			if slices.Contains(counts, name) {
				used[name] = true
			} else if !units.MatchString(name) {
				t.Errorf("%s.%s: %q is a number without a unit in its name", typ.Name(), f.Name, name)
			} else if checkNumbers(name, []byte("-1e9")) == "" {
				t.Errorf("%s.%s: %q may be -1e9: its unit has no range", typ.Name(), f.Name, name)
			}
		}
	}
	for _, name := range counts {
		if !used[name] {
			t.Errorf("%q is listed as a count and nothing has it", name)
		}
	}
}

func isNumber(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Map:
		return isNumber(t.Elem())
	case reflect.Slice:
		return t.Elem().Kind() != reflect.Uint8 && isNumber(t.Elem())
	}
	return t.Kind() >= reflect.Int && t.Kind() <= reflect.Float64
}

// A number, a truth value or a struct that may be unknown is a pointer, so that
// absent and zero are told apart; an optional fact is never a bare value.
func TestOptionalFactsArePointers(t *testing.T) {
	for _, kind := range []Kind{KindMemory, KindSystem} {
		info, _ := LookupKind(kind)
		for name, f := range jsonFields(info.Value) {
			if isNumber(f.Type) && f.Type.Kind() != reflect.Pointer {
				t.Errorf("%s: %s would read 0 where it is unknown", kind, name)
			}
		}
	}
}

// What an enum lists and what the source declares are the same words.
func TestEnumsListTheirConstants(t *testing.T) {
	enums := enumTypes(t)
	if len(enums) < 30 {
		t.Fatalf("found only %d enums", len(enums))
	}
	for _, e := range enums {
		t.Run(e.Name(), func(t *testing.T) {
			is := is.New(t)
			listed := reflect.Zero(e).Interface().(Enum).Values()
			constants := constantsOf(t, e.Name())
			slices.Sort(constants)
			is.Equal(constants, slices.Sorted(slices.Values(listed))) // each once, none left out
			for _, w := range listed {
				is.True(regexp.MustCompile(`^[a-z0-9]+([_-][a-z0-9]+)*$`).MatchString(w))
				v := reflect.New(e).Elem()
				v.SetString(w)
				if valid, ok := v.Interface().(interface{ Valid() bool }); ok {
					is.True(valid.Valid())
					v.SetString(w + "x")
					is.True(!v.Interface().(interface{ Valid() bool }).Valid())
				}
			}
		})
	}
}

// enumTypes finds the enums that travel, and checks that the source has no others.
func enumTypes(t *testing.T) []reflect.Type {
	t.Helper()
	found := map[string]reflect.Type{"NameRule": reflect.TypeFor[NameRule](), "MethodClass": reflect.TypeFor[MethodClass]()}
	var visit func(reflect.Type)
	visit = func(typ reflect.Type) {
		switch {
		case typ.Implements(reflect.TypeFor[Enum]()):
			found[typ.Name()] = typ
		case typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice || typ.Kind() == reflect.Map:
			visit(typ.Elem())
		}
	}
	for typ := range wireTypes() {
		for i := range typ.NumField() {
			visit(typ.Field(i).Type)
		}
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var all []reflect.Type
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Recv == nil || fn.Name.Name != "Values" {
				continue
			}
			owner := fn.Recv.List[0].Type.(*ast.Ident).Name
			if found[owner] == nil {
				t.Errorf("%s is an enum that nothing uses", owner)
				continue
			}
			all = append(all, found[owner])
		}
	}
	return all
}

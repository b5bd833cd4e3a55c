package native

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Reason says why something is absent or impossible: a stable snake_case key,
// and, after ": ", an optional detail for people. Programs compare [Reason.Key]
// only.
type Reason string

// Reasons that every platform shares. The keys are those of the API's table of
// reasons, where each has its text for people; a platform invents none of its
// own but explains in the detail.
const (
	// ReasonNoHardware: this machine has nothing of the kind.
	ReasonNoHardware Reason = "not_supported_by_hardware"
	// ReasonNoOS: this version of the system does not tell or cannot do it.
	ReasonNoOS Reason = "not_supported_by_os"
	// ReasonNoPlatform: Fulmen has no way to know or do it on this platform.
	ReasonNoPlatform Reason = "not_supported_by_platform"
	// ReasonNeedsRoot: only a daemon that runs as root can know or do it.
	ReasonNeedsRoot Reason = "needs_root"
	// ReasonPermission: the system refused; a person's consent may be needed.
	ReasonPermission Reason = "permission_denied"
	// ReasonNotYetRead: it has not been read yet; a rate needs two readings.
	ReasonNotYetRead Reason = "not_yet_read"
	// ReasonReadFailed: the system call failed; the detail names it and its error.
	ReasonReadFailed Reason = "read_failed"
	// ReasonSourceGone: the item went away while it was being read.
	ReasonSourceGone Reason = "source_gone"
	// ReasonSourceMalformed: a value was there and made no sense; the detail quotes it.
	ReasonSourceMalformed Reason = "source_malformed"
	// ReasonSourcesDisagree: two sources of the system contradict each other.
	ReasonSourcesDisagree Reason = "sources_disagree"
	// ReasonNotInScenario: the simulated scenario does not say.
	ReasonNotInScenario Reason = "not_in_scenario"
	// ReasonNotConnected: nothing is connected.
	ReasonNotConnected Reason = "not_connected"
)

// With returns the reason with a detail for people. An empty detail changes nothing.
func (r Reason) With(detail string) Reason {
	if detail == "" {
		return r
	}
	return Reason(r.Key() + ": " + detail)
}

// Key returns the stable part, without the detail.
func (r Reason) Key() string {
	key, _, _ := strings.Cut(string(r), ": ")
	return key
}

// Detail returns what follows the key, or "".
func (r Reason) Detail() string {
	_, detail, _ := strings.Cut(string(r), ": ")
	return detail
}

// Reasons maps the JSON name of an absent field to why it is absent. A struct
// of facts has one in a field named Unknown.
type Reasons map[string]Reason

// Add notes why a field is absent, making the map when it is nil.
func (r *Reasons) Add(field string, why Reason) {
	if *r == nil {
		*r = Reasons{}
	}
	(*r)[field] = why
}

// Put sets a field to a value, or, where there is a reason, notes why it stays absent.
func Put[T any](field *T, unknown *Reasons, name string, value T, why Reason) {
	if why != "" {
		unknown.Add(name, why)
		return
	}
	*field = value
}

// Clone returns an independent copy; nil stays nil.
func (r Reasons) Clone() Reasons { return maps.Clone(r) }

// CheckUnknown walks facts and returns one line for each place that breaks the
// rule "absent with a reason": a field left out without a reason, a reason for
// a field that is present, or a reason for a field that does not exist. An
// empty answer means that the facts are honest.
//
// A struct takes part when it has a field Unknown of type [Reasons]. Of such a
// struct every field whose JSON tag says omitzero must be set or explained,
// except those tagged `native:"optional"`, whose absence is itself the answer
// (a Wi-Fi interface is in no bridge).
func CheckUnknown(facts any) []string {
	var problems []string
	checkUnknown(reflect.ValueOf(facts), "", &problems)
	slices.Sort(problems)
	return problems
}

func checkUnknown(v reflect.Value, path string, problems *[]string) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			checkUnknown(v.Elem(), path, problems)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			checkUnknown(v.Index(i), fmt.Sprintf("%s[%d]", path, i), problems)
		}
	case reflect.Struct:
		checkStruct(v, path, problems)
	}
}

func checkStruct(v reflect.Value, path string, problems *[]string) {
	t := v.Type()
	reasons, accountable := reasonsOf(v)
	present := map[string]bool{}
	for i := range t.NumField() {
		field := t.Field(i)
		if !field.IsExported() {
			continue
		}
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		at := strings.TrimPrefix(path+"."+name, ".")
		absent := v.Field(i).IsZero()
		present[name] = !absent
		if field.Type == reflect.TypeFor[Reasons]() {
			continue
		}
		mayBeAbsent := strings.Contains(options, "omitzero") && field.Tag.Get("native") != "optional"
		if accountable && absent && mayBeAbsent && reasons[name] == "" {
			*problems = append(*problems, at+": absent without a reason")
		}
		checkUnknown(v.Field(i), at, problems)
	}
	for name := range reasons {
		at := strings.TrimPrefix(path+"."+name, ".")
		isPresent, exists := present[name]
		switch {
		case !exists:
			*problems = append(*problems, at+": a reason for a field that does not exist")
		case isPresent:
			*problems = append(*problems, at+": present and yet called unknown")
		}
	}
}

func reasonsOf(v reflect.Value) (Reasons, bool) {
	field := v.FieldByName("Unknown")
	if !field.IsValid() {
		return nil, false
	}
	reasons, ok := field.Interface().(Reasons)
	return reasons, ok
}

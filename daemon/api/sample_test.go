package api

import (
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"time"
)

const sampleCluster = ClusterID("a7937b64b8caa58f03721bb6bacf5c78")

func sampleTime() Time { return TimeOf(time.Date(2026, 11, 21, 11, 0, 0, 123_000_000, time.UTC)) }

func sampleLink() LinkID {
	l, err := NewLinkID(LinkEnd{testNode(1), 1}, LinkEnd{testNode(2), 3})
	if err != nil {
		panic(err)
	}
	return l
}

// sampleName is a name that fits a rule.
func sampleName(rule NameRule) string {
	switch rule {
	case NamePortNumber:
		return "3"
	case NamePeerAddress, NamePath:
		return string(testNode(2)) + "/10.0.0.7"
	case NameLink:
		return sampleLink().String()
	case NameJob:
		return "j4k2m9xq7"
	case NameRank, NameHolder:
		return "j4k2m9xq7/2/1"
	case NameCondition:
		return string(ReasonLinkTooSlow) + "/" + sampleLink().String()
	case NameNode:
		return string(testNode(2))
	}
	return ""
}

// sampleDocument is a signed document of a kind with every field of its value set.
func sampleDocument(info KindInfo) Document {
	value := reflect.New(info.Value)
	fill(value.Elem(), "")
	if job, ok := value.Interface().(*Job); ok {
		spec := sample[JobSpec]()
		raw, sig, err := SignSpec(sampleCluster, testKey(1), spec)
		if err != nil {
			panic(err)
		}
		job.Spec, job.SpecSig, job.SpecSHA256, job.Principal = raw, sig, SpecSHA256(raw), spec.Principal
	}
	d := Document{Node: testNode(1), Kind: info.Kind, Name: sampleName(info.Name), Inc: 2, Seq: 41, At: sampleTime(),
		Unknown: map[string]Reason{"gpu_cores": ReasonNotSupportedByOS}, Simulated: true}
	if err := d.SetValue(value.Interface()); err != nil {
		panic(err)
	}
	if err := d.Sign(sampleCluster, testKey(1)); err != nil {
		panic(err)
	}
	return d
}

// sample is a value with every field set.
func sample[T any]() T {
	var v T
	fill(reflect.ValueOf(&v).Elem(), "")
	return v
}

// fixedSamples are the types whose value a field's name does not decide.
func fixedSamples() []any {
	return []any{testNode(1), sampleCluster, JobID("j4k2m9xq7"), MeasureID("m4k2m9xq7"), RankRef{"j4k2m9xq7", 2, 1},
		LinkEnd{testNode(1), 1}, sampleLink(), Principal{"anna", testNode(1)}, sampleTime(), PortNumber(3),
		PeerAddress{testNode(2), netip.MustParseAddr("10.0.0.7")}, netip.MustParseAddr("169.254.1.2"),
		netip.MustParsePrefix("169.254.1.1/30"), netip.MustParseAddrPort("10.0.0.7:7732"), ReasonLinkTooSlow,
		CodePrecondition, Subscription("s1"), NodeRef("mac-studio"), LinkRef("mac-studio:1"),
		json.RawMessage(`{"key":"value"}`), []byte("fulmen"),
		Document{Node: testNode(1), Kind: KindNodeState, Inc: 2, Seq: 41, At: sampleTime(),
			Value: json.RawMessage(`{"state":"awake","since":"2026-11-21T11:00:00.123Z"}`)}}
}

// fill sets every field below v; field is the JSON name of v itself.
func fill(v reflect.Value, field string) {
	for _, s := range fixedSamples() {
		if reflect.TypeOf(s) == v.Type() {
			v.Set(reflect.ValueOf(s))
			return
		}
	}
	if e, ok := v.Interface().(Enum); ok {
		v.SetString(e.Values()[0])
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), field)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), field)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		value := reflect.New(v.Type().Elem()).Elem()
		fill(value, field)
		v.SetMapIndex(reflect.ValueOf("key"), value)
	case reflect.Struct:
		for i := range v.NumField() {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			fill(v.Field(i), name)
		}
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(sampleInt(field))
	case reflect.Uint64:
		v.SetUint(7)
	case reflect.Float64:
		v.SetFloat(sampleFloat(field))
	case reflect.String:
		v.SetString(sampleString(field))
	default:
		panic(fmt.Sprintf("no sample for %s %s", field, v.Type()))
	}
}

func sampleInt(field string) int64 {
	switch {
	case strings.HasSuffix(field, "bits_per_s"):
		return 80_000_000_000
	case strings.HasSuffix(field, "_bytes_per_s"):
		return 661_000_000_000
	case strings.HasSuffix(field, "_bytes"):
		return 137_438_953_472
	}
	return 2
}

func sampleFloat(field string) float64 {
	switch {
	case strings.HasSuffix(field, "_ratio"):
		return 0.25
	case strings.HasSuffix(field, "_tflops"):
		return 23.6
	}
	return 18.5
}

func sampleString(field string) string {
	known := map[string]string{"model": "Mac15,14", "chip": "Apple M3 Ultra", "os_version": "26.2", "os_build": "25C56",
		"interface": "en5", "mlx_version": "0.32.4", "name": "Mac Studio <1> & Co", "short_name": "mac-studio"}
	if s, ok := known[field]; ok {
		return s
	}
	if strings.HasSuffix(field, "sha256") {
		return SpecSHA256(nil)
	}
	return "some " + strings.ReplaceAll(field, "_", " ")
}

func publicKey(n byte) ed25519.PublicKey { return testKey(n).Public().(ed25519.PublicKey) }

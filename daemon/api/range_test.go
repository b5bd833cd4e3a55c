package api

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/matryer/is"
)

func TestNumbersInRange(t *testing.T) {
	for value, wrong := range map[string]string{
		`{"used_bytes":5,"total_bytes":5}`:                           "",
		`{"used_bytes":5}`:                                           "",
		`{"used_bytes":6,"total_bytes":5}`:                           "used_bytes is more than total_bytes",
		`{"swap_used_bytes":6,"total_bytes":7,"swap_total_bytes":5}`: "swap_used_bytes is more than swap_total_bytes",
		`{"used_bytes":-1}`:                                          "used_bytes is out of range",
		`{"used_bytes":-9223372036854775808}`:                        "used_bytes is out of range",
		`{"total_bytes":9223372036854775807}`:                        "total_bytes is out of range",
		`{"a":{"b":[{"down_bits_per_s":-80}]}}`:                      "down_bits_per_s is out of range",
		`{"cpu_use_ratio":1}`:                                        "",
		`{"cpu_use_ratio":1.5}`:                                      "cpu_use_ratio is out of range",
		`{"spread_ratio":1.5}`:                                       "",
		`{"cpu_power_watts":1e400}`:                                  "cpu_power_watts is out of range",
		`{"temperature_celsius":-20.5}`:                              "",
		`{"temperature_celsius":-300}`:                               "temperature_celsius is out of range",
		`{"speeds_bytes_per_s":[1,-1]}`:                              "speeds_bytes_per_s is out of range",
		`{"rank":-1,"exit_code":137,"words":"-1","none_bytes":null}`: "",
		`{"gpu_cores":1e300}`:                                        "gpu_cores is out of range",
		`{"Used_Bytes":-1}`:                                          "used_bytes is out of range",
		`{"used\u005fbytes":-1}`:                                     "used_bytes is out of range",
		`{"uſed_byteſ":-1}`:                                          "used_bytes is out of range",
		`{"used_bytes":6,"total_byteS":5}`:                           "used_bytes is more than total_bytes",
		`{"later_kinds":{"of_s":-2}}`:                                "of_s is out of range",
	} {
		is := is.New(t)
		d := Document{Node: testNode(1), Kind: KindMemory, Value: json.RawMessage(value)}
		err := d.CheckNumbers()
		if wrong == "" {
			is.NoErr(err)
			continue
		}
		is.True(errors.Is(err, ReasonMalformedDocument))
		is.True(strings.HasSuffix(err.Error(), wrong))
	}
}

// However a value is spelled, what encoding/json reads of it is in range.
func FuzzNumbers(f *testing.F) {
	f.Add(`{"used_bytes":5,"total_bytes":6}`)
	f.Add(`{"USED_BYTE\u0053":-5,"total_bytes":6,"total_bytes":4}`)
	f.Fuzz(func(t *testing.T, value string) {
		d := Document{Node: testNode(1), Kind: KindMemory, Value: json.RawMessage(value)}
		var m Memory
		if CheckStable(d.Value) != nil || d.CheckNumbers() != nil || d.Decode(&m) != nil {
			return
		}
		for _, n := range []*int64{m.TotalBytes, m.UsedBytes, m.SwapTotalBytes, m.SwapUsedBytes, m.GPUUsedBytes, m.AvailableBytes} {
			if n != nil && (*n < 0 || *n > maxNumber) {
				t.Fatalf("%s: %d", value, *n)
			}
		}
		if m.UsedBytes != nil && m.TotalBytes != nil && *m.UsedBytes > *m.TotalBytes {
			t.Fatalf("%s: %d of %d", value, *m.UsedBytes, *m.TotalBytes)
		}
	})
}

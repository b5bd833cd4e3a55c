package scenario

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/native"
)

func TestParseOp(t *testing.T) {
	studio := End{Owner: "studio-1", PortNumber: 2}
	dock := End{Owner: "dock", PortNumber: 1, Hub: true}
	for line, want := range map[string]Op{
		"plug studio-1.tb2 dock.up":           {Verb: VerbPlug, Ends: []End{studio, {Owner: "dock", Hub: true}}},
		"plug dock.1\tstudio-1.tb2  80 Gb/s":  {Verb: VerbPlug, Ends: []End{dock, studio}, Speed: symmetric(80)},
		"plug studio-1.tb2 dock.1 120/40G":    {Verb: VerbPlug, Ends: []End{studio, dock}, Speed: native.LinkSpeed{TxBitsPerS: 120 * gigabit, RxBitsPerS: 40 * gigabit}},
		"unplug studio-1.tb2":                 {Verb: VerbUnplug, Ends: []End{studio}},
		"retrain studio-1.tb2 40G":            {Verb: VerbRetrain, Ends: []End{studio}, Speed: symmetric(40)},
		" sleep A ":                           {Verb: VerbSleep, Owner: "A"},
		"idle A":                              {Verb: VerbIdle, Owner: "A"},
		"wake A":                              {Verb: VerbWake, Owner: "A"},
		"restart A":                           {Verb: VerbRestart, Owner: "A"},
		"set A.rdma on_after_restart":         {Verb: VerbSet, Owner: "A", Key: "rdma", Value: "on_after_restart"},
		"set A.name Ada's  Mac":               {Verb: VerbSet, Owner: "A", Key: "name", Value: "Ada's  Mac"},
		"set A.os 26.3/25D125":                {Verb: VerbSet, Owner: "A", Key: "os", Value: "26.3/25D125"},
		"set A.memory.used 1.5 GB":            {Verb: VerbSet, Owner: "A", Key: "memory.used", Value: "1.5 GB"},
		"set A.en5.address 10.0.0.1/30":       {Verb: VerbSet, Owner: "A", Key: "en5.address", Value: "10.0.0.1/30"},
		"set A.en5.address fe80::1/64 manual": {Verb: VerbSet, Owner: "A", Key: "en5.address", Value: "fe80::1/64 manual"},
		"set A.en0.100.link down":             {Verb: VerbSet, Owner: "A", Key: "en0.100.link", Value: "down"},
		"set A.en5.bridge none":               {Verb: VerbSet, Owner: "A", Key: "en5.bridge", Value: "none"},
		"set A.thunderbolt.told no":           {Verb: VerbSet, Owner: "A", Key: "thunderbolt.told", Value: "no"},
		"set lan.isolated yes":                {Verb: VerbSet, Owner: "lan", Key: "isolated", Value: "yes"},
		"set lan.link down":                   {Verb: VerbSet, Owner: "lan", Key: "link", Value: "down"},
		"set A.watts 120.5":                   {Verb: VerbSet, Owner: "A", Key: "watts", Value: "120.5"},
		"set A.battery 0.25":                  {Verb: VerbSet, Owner: "A", Key: "battery", Value: "0.25"},
	} {
		t.Run(line, func(t *testing.T) {
			is := is.New(t)
			op, err := ParseOp(line)
			is.NoErr(err)
			is.Equal(op, want)
			again, err := ParseOp(op.String())
			is.NoErr(err)
			is.Equal(again, want) // written and read again
		})
	}
}

func TestParseOpSaysWhatIsExpected(t *testing.T) {
	for line, want := range map[string]string{
		"":                             "unknown verb",
		"plag a.tb1 b.tb1":             `did you mean "plug"?`,
		"plug a.tb1":                   "1 end(s) named, 2 needed; expected: plug A.tb2 B.tb1 [80G | 120/40G]",
		"plug a.tb1 a.tb1":             "both ends are a.tb1",
		"plug a.tb0 b.tb1":             "after the dot belongs tb1 to tb64",
		"plug a.tb01 b.tb1":            "after the dot",
		"plug a b.tb1":                 "after the dot",
		"plug a.tb1 b.tb1 Up to 120 G": "is a limit",
		"plug a.tb1 b.tb1 fast":        "no unit",
		"unplug a.tb1 b.tb1":           "one word too many",
		"retrain a.tb1":                "the speed is missing",
		"sleep":                        "a name is missing",
		"sleep a b":                    "letters, digits",
		"set a.rdma":                   "the value of a.rdma is missing",
		"set a on":                     "no key after",
		"set a.rdma maybe":             `"maybe" of rdma is not one of off, on, on_after_restart`,
		"set a.batery 1":               `did you mean "battery"?`,
		"set a.battery 1.5":            "not a number from 0 to 1",
		"set a.gpu_use 1.5":            "not a number from 0 to 1",
		"set a.celsius hot":            "not a number from 0 to 120",
		"set a.battery NaN":            "not a number from 0 to 1",
		"set a.memory.used lots":       `such as "512 GB"`,
		"set a.en5.address 1.2.3.4":    "prefix length",
		"set a.os tahoe":               "26.2/25C56",
		"set a.nonsense.told yes":      "unknown key",
		"set a.name two\nlines":        "on one line",
	} {
		t.Run(line, func(t *testing.T) {
			is := is.New(t)
			_, err := ParseOp(line)
			is.True(err != nil)
			if !strings.Contains(err.Error(), want) {
				t.Errorf("error %q does not say %q", err, want)
			}
		})
	}
}

func FuzzParseOp(f *testing.F) {
	f.Add("plug a.tb1 dock.up 120/40G")
	f.Add("set a.en5.address fe80::1/64 manual")
	f.Add("set a.name  x ")
	f.Add("retrain a.tb1 0.001M")
	f.Fuzz(func(t *testing.T, line string) {
		op, err := ParseOp(line)
		if err != nil {
			return
		}
		again, err := ParseOp(op.String())
		if err != nil {
			t.Fatalf("%q was read and is written as %q, which is refused: %v", line, op, err)
		}
		if again.String() != op.String() {
			t.Fatalf("%q becomes %q, then %q", line, op, again)
		}
	})
}

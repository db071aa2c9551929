//go:build unix

package runtime

import (
	"bufio"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// unit is a piece of source text that hurts a parser when it is repeated.
type unit struct {
	text     string
	pre, end string // around the repetitions, so that the text parses as far as it can
}

// ruleUnits are those of HOSTILE-9.
const ruleUnits = `
! ( [ { ~${ a<  a?1:  if(a)  a=  a**  .b  ()  [0]  ?.b  ~x~  a=>  a?(b):c=>  a,  case_1:  switch(a){¦case_1:¦}  a:  for(;;)  'ab'+  ¦'ab'+¦1  function_a(){  enum_a{b='xx',c=b+b}
`

// moreUnits are what a search for more of the kind has found. In a unit _ stands for a space and ~ for a backtick; what
// stands before and behind the bars is written once, so that the text parses as far as it can.
const moreUnits = `
! - + ~ typeof_ void_ delete_ await_ new_ yield_ ++ --
[ ( { ~${
a<  <a>  a<b,  f<a>(  a<(  a<{b:  a<[  a<b[
a?1:  a?b:c=>  a?(b):c=>  a?(b):  (a)?(b):c=>  a?(  a?(b=>  (a?(b):c=>  [a?(b):c,  a?async(b):c=>
if(a)  if(a){}else_  else_  for(;;)  for(a_of_b)  while(a)  with(a)  do_  switch(a){case_1:
a=  a+=  a??=  a**  a:  a%:  a:{  try{  try{}catch{
.b  ()  [0]  ?.b  ?.()  ?.[0]  !.b  ~a~  ~x${0}~  (0)(1)  .b()[0]
a=>  (a)=>  async_a=>  async(a)=>  async(  (a,  (a=  (a):b=>  ()=>{  ()=>(  ()=>[  <a>(b)=>  async<a>(b)=>
a+  'ab'+  ~ab~+  1+  a-  a*  a/  a%  a&&  a||  a??  a|  a==  a>  a>>  a<<  a_in_  a_instanceof_  a_as_b_  a_satisfies_b_  a,  1,  'a',  a=1,
case_1:  case_a:  case_%:  default:
function_a(){  function_a(){}  (function(){  class_a{  class_a_extends_  class{a(){  (class{a=  ({a:  ({a(){  ({[  {a:  {let_a;  {let_a}  {let_a;{let_b;
@a  @a_  @a()  @(  a(){}  #a;  accessor_a%;  static{}
let_a;  let_a%;  const_a=1;  var_a;  using_a%=b;  let{a}=b;  let[a]=b;  let_{a=  let_[a=  [a]=  ({a}=  [a,{b:
a;  a%;  a.b;  a();  a\n  a()\n  ;  {}  ()=>{},  [],  {a},  a=>a,  /a/;  /[/  a\n/b/;  }/a/;  <!--  //\n  /**/  "a  'a';  ~a~;  1;  1_0;  \u0061  a\u0061
type_a=b;  type_a={b:  type_a=b|  type_a=(b:  type_a=b_extends_c?d:  interface_a{  interface_a{}  let_a:b<  let_a:(b:  let_a:{b:  keyof_  infer_b_extends_  a_as_(b)=>  unique_
enum_a{b}  enum_a%{b=~x~}  enum_a{b=  namespace_a{  namespace_a{}  namespace_a.b{}  declare_  abstract_  export_  import_a_from'b';  import('a');  import.meta;  export_=a;
new.target  super.a;  a_is_b  </a>  <a_b={  <a>{b}</a>
function_f(¦a,¦b){}  (¦a,¦b)=>1  a:{¦a:;¦}  ({¦__proto__:1,¦})  01;  08;  '\1';  eval=1;  static;  delete_a;  if(a)function_b(){}  let_let;  {¦function_a(){}¦}  let_a;¦var_a;¦  let_a;¦{var_a}¦  ¦{var_a}¦let_a;  class_b{¦#a;¦}  class_b{¦m(){01}¦}
break;  continue_a;  a.#b;  return_1;  a?.b=1;  1=1;  try{}catch(a){let_a}  function_f(a){let_a}  -a**b;  a??b||c;  using_a;  const_a%;  ({a=1});  class_a%{constructor(){}constructor(){}}  /a/gg;  label%:for(;;)continue_label%;  enum_a%{b,b}  enum_a{b=c.d}  class_b%{@a_m(){}}  class_b%{accessor_m}  yield;
a=[¦a,¦]  a=[¦[],¦]  a={¦a:1,¦}  a={¦a%:1,¦}  a={¦a(){},¦}  a=[¦()=>{},¦]  a=[¦a=>a,¦]  a=[¦{a},¦]  f(¦a,¦)  switch(a){¦case_%:¦}  class_b{¦a(){}¦}  class_b{¦a=1\n¦}  class_b{¦static{}¦}  class_b{¦static_a=this;¦}  class_b{¦@a_#b%;¦}  enum_b{¦a%,¦}  enum_b{¦a%='x',¦}  let_¦a%,¦b  let_a;¦a2,¦  type_a={¦b:c;¦}  interface_a{¦b:c;¦}
¦a-¦1  ¦1+¦1  ¦a&&¦1  ¦a,¦1  ¦a==¦1  ¦'ab'+¦1  ¦-¦1  ¦!¦1  ¦a=¦1  ¦a?1:¦1  ¦a=>¦1  ¦if(a)¦;  ¦if(a){}else_¦;  ¦(¦1  ¦~x${0}~¦1
`

func units(lines string) []unit {
	var list []unit
	for _, w := range strings.Fields(lines) {
		w = strings.NewReplacer("_", " ", "~", "`", `\n`, "\n").Replace(w)
		u := unit{text: w}
		if parts := strings.Split(w, "¦"); len(parts) == 3 {
			u = unit{parts[1], parts[0], parts[2]}
		}
		list = append(list, u)
	}
	return list
}

type hostileTask struct {
	Text, Pre, End string
	Size           int
}

type hostileAnswer struct {
	Refused bool // by the guard
	Error   string
	Seconds float64
	Bytes   int
}

func (t hostileTask) source() string {
	return t.Pre + repeated(t.Text, t.Size-len(t.Pre)-len(t.End)) + t.End
}

// TestMain makes the test binary the child of TestHostile when it is asked to be.
func TestMain(m *testing.M) {
	if os.Getenv("RUNCODE_HOSTILE_CHILD") == "" {
		os.Exit(m.Run())
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: 1 << 30, Max: 1 << 30}); err != nil {
		panic(err)
	}
	debug.SetMemoryLimit(768 << 20)
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 8<<20)
	out := json.NewEncoder(os.Stdout)
	for in.Scan() {
		var task hostileTask
		if err := json.Unmarshal(in.Bytes(), &task); err != nil {
			panic(err)
		}
		src := task.source()
		start := cpuTime()
		code, failure := transform(src, false, Target{AsyncGenerators: len(src)%2 == 0})
		a := hostileAnswer{Seconds: (cpuTime() - start).Seconds()}
		if failure != nil {
			a.Error, a.Refused = failure.Message, failure.Message == MessageNested || failure.Message == MessageLong
		} else {
			a.Bytes = len(code.JS)
		}
		if err := out.Encode(a); err != nil {
			panic(err)
		}
	}
	os.Exit(0)
}

// cpuTime returns the processor time of this process: on a busy machine the clock says nothing.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// child is a process that transforms texts, in at most 1 GiB of memory.
type child struct {
	cmd *exec.Cmd
	in  *json.Encoder
	out *json.Decoder
}

func startChild(t *testing.T) *child {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "RUNCODE_HOSTILE_CHILD=1")
	cmd.Stderr = nil
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		cmd.Process.Kill()
		cmd.Wait()
	})
	return &child{cmd, json.NewEncoder(in), json.NewDecoder(out)}
}

// composition returns runs of units, as long as the guard's limits let them be and a little longer, with separators.
func composition(all []unit) string {
	var b strings.Builder
	for range 1 + rand.IntN(4) {
		text := all[rand.IntN(len(all))].text
		if rand.IntN(2) == 0 {
			text += pick(";", "\n", ",", "{}", "{", ";\n", "}", ")", "(", " ", "+", "=>", "?", ":", "[", "]")
		}
		n := pick(1, 2, 7, 8, 60, 200, 250, 1000, 2000, 4000)
		b.WriteString(repeated(text, min(60000, n*len(text))))
		if rand.IntN(2) == 0 {
			b.WriteString(pick(";", "\n", ",", "{}", "{", "}", ")", "]"))
		}
	}
	return b.String()
}

// short is a text with each run of a repeated piece written once.
func short(text string) string {
	for size := 1; size < 40; size++ {
		var b strings.Builder
		for i := 0; i < len(text); {
			end := min(i+size, len(text))
			n := 1
			for i+(n+1)*size <= len(text) && text[i+n*size:i+(n+1)*size] == text[i:end] {
				n++
			}
			if n > 4 && n*size > 40 {
				b.WriteString("«" + text[i:end] + "»" + strconv.Itoa(n))
				i += n * size
			} else {
				b.WriteByte(text[i])
				i++
			}
		}
		text = b.String()
	}
	return text
}

func pick[T any](of ...T) T { return of[rand.IntN(len(of))] }

// TestHostile proves HOSTILE-9: each unit alone and each pair of units, repeated to 1 MiB, is answered within a second
// by a process of 1 GiB. A second of processor time, that is, and with the collector's share twice as much: the clock
// says nothing on a busy machine.
//
// RUNCODE_HOSTILE searches further: all takes all pairs of all units, which takes an hour, a number n takes n of them at
// random and n longer compositions.
func TestHostile(t *testing.T) {
	const (
		maxSeconds = 2.5
		giveUp     = 10 * time.Minute // by the clock
	)
	var tasks []hostileTask
	add := func(size int, units []unit, others []unit) {
		for _, u := range units {
			tasks = append(tasks, hostileTask{u.text, u.pre, u.end, size})
			for _, v := range others {
				tasks = append(tasks, hostileTask{u.text + v.text, u.pre, v.end, size})
			}
		}
	}
	rule, all := units(ruleUnits), append(units(ruleUnits), units(moreUnits)...)
	switch which := os.Getenv("RUNCODE_HOSTILE"); {
	case which != "":
		add(MaxProgramBytes, all, all)
		if n, err := strconv.Atoi(which); err == nil {
			rand.Shuffle(len(tasks), func(i, j int) { tasks[i], tasks[j] = tasks[j], tasks[i] })
			tasks = tasks[:min(n, len(tasks))]
			for range n {
				tasks = append(tasks, hostileTask{composition(all), "", "", MaxProgramBytes})
			}
		}
	case testing.Short():
		add(MaxProgramBytes, rule, nil)
	default:
		add(MaxProgramBytes, rule, rule)
		add(MaxProgramBytes/4, units(moreUnits), nil)
	}
	c := startChild(t)
	count := make(map[string]int)
	worst := hostileAnswer{}
	for i, task := range tasks {
		if i > 0 && i%5000 == 0 {
			t.Logf("%d of %d texts: %v, at worst %.2f s", i, len(tasks), count, worst.Seconds)
		}
		if err := c.in.Encode(task); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(giveUp, func() { c.cmd.Process.Kill() })
		var a hostileAnswer
		err := c.out.Decode(&a)
		timer.Stop()
		switch {
		case err != nil:
			t.Errorf("HOSTILE-9 %q %q %q: the process died", task.Pre, short(task.Text), task.End)
			c = startChild(t)
		case a.Seconds > maxSeconds:
			t.Errorf("HOSTILE-9 %q %q %q: %.1f s (%d bytes of code, %.100s)", task.Pre, short(task.Text), task.End, a.Seconds, a.Bytes, a.Error)
		case a.Refused:
			count["refused"]++
		case a.Error != "":
			count["do not parse"]++
		default:
			count["transformed"]++
		}
		if a.Seconds > worst.Seconds {
			worst = a
		}
	}
	t.Logf("%d texts: %v, at worst %.2f s", len(tasks), count, worst.Seconds)
}

// Reports on the departments of a company: queries its database, writes a table next to the documents, and says what changed since the
// table was written last.
//
//   WORK=/path/to/folder runcode run --mcp testdata/examples/work.mcp.json testdata/examples/departments.ts

interface Department {
  name: string;
  people: number;
  salary: number;
  manager: string;
}

// The server answers in text that holds JSON: one entry for each statement.
async function query<Row>(sql: string): Promise<Row[]> {
  const answer = await tools.mcp__db__execute_sql({ sql });
  return JSON.parse(answer.content[0].text).data.statements[0].rows;
}

const [departments, managers] = await Promise.all([
  query<{ no: string; name: string; people: number; salary: number }>(`
    SELECT d.dept_no AS no, d.dept_name AS name, COUNT(*) AS people, CAST(ROUND(AVG(s.amount)) AS INTEGER) AS salary
    FROM department d
    JOIN current_dept_emp c ON c.dept_no = d.dept_no AND c.to_date = '9999-01-01'
    JOIN salary s ON s.emp_no = c.emp_no AND s.to_date = '9999-01-01'
    GROUP BY d.dept_no
    ORDER BY people DESC, name`),
  query<{ no: string; manager: string }>(`
    SELECT m.dept_no AS no, e.first_name || ' ' || e.last_name AS manager
    FROM dept_manager m JOIN employee e ON e.emp_no = m.emp_no
    WHERE m.to_date = '9999-01-01'`),
]);
const managerOf = new Map(managers.map((m) => [m.no, m.manager]));
const report: Department[] = departments.map(({ no, ...rest }) => ({ ...rest, manager: managerOf.get(no) ?? "nobody" }));

const folder = (await tools.mcp__files__list_allowed_directories({})).content[0].text.split("\n")[1];
const path = `${folder}/departments.md`;
const row = (d: Department) => `| ${d.name} | ${d.people} | ${d.salary} | ${d.manager} |`;

let before: string[] = [];
try {
  before = (await tools.mcp__files__read_text_file({ path })).structuredContent.content.split("\n");
} catch (e) {
  if (!(e instanceof ToolCallError)) throw e;
  console.log(`there was no table before: ${path.slice(folder.length + 1)} is new`);
}
const changed = report.filter((d) => !before.includes(row(d)));
if (changed.length > 0) {
  const lines = ["| department | people | average salary | manager |", "| --- | ---: | ---: | --- |", ...report.map(row), ""];
  await tools.mcp__files__write_file({ path, content: lines.join("\n") });
}
return { departments: report.length, people: report.reduce((sum, d) => sum + d.people, 0), changed };

// Ships every open order at once, tells the customers, and goes on when that fails.
//
//   runcode run --tools testdata/examples/orders.tools.json testdata/examples/orders.ts

const orders = await tools.list_orders({});
const parcels = await Promise.all(orders.map((o) => tools.ship({ order: o.id })));

const told: string[] = [];
const untold: Record<string, string> = {};
for (const order of orders) {
  try {
    await tools.notify({ order: order.id });
    told.push(order.id);
  } catch (e) {
    if (!(e instanceof ToolCallError)) throw e;
    untold[order.id] = `${e.toolName}: ${e.message}`;
  }
}
console.log(`shipped ${orders.length} orders, told ${told.length} customers`);
return { total: orders.reduce((sum, o) => sum + o.total, 0), parcels: parcels.map((p) => p.trim()), untold };

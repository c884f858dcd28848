using System.CommandLine;
using Samples;
using ServiceMesh;

if (args is ["role", string settings])
{
    return await Role.RunAsync(RoleSettings.Parse(settings));
}

var demo = new Option<bool>("--demo") { Description = "Play a script of failures, and check the counts" };
var broken = new Option<string>("--break")
{
    Description = "With --demo: lost-request, one request gets no reply. The demo must fail",
    HelpName = "fault",
};
broken.AcceptOnlyFromAmong("lost-request");
Option<int> rate = Sample.Number("--rate", "Requests a second", standard: 2_000, least: 100, most: 50_000);
var command = new RootCommand("Three registries, three receivers and a gateway under load, each a process") { demo, broken, rate };
return await Sample.RunAsync("ServiceMesh", command, args, async (result, stop) =>
{
    await using Mesh mesh = await Mesh.StartAsync(result.GetValue(rate), result.GetValue(broken) is not null, stop);
    return result.GetValue(demo) ? await new DemoScript(mesh).RunAsync(stop) : await Screen.RunAsync(mesh, stop);
});

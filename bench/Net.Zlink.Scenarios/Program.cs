using System.CommandLine;
using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Scenarios.Attacks;
using Net.Zlink.Scenarios.Evidence;
using Net.Zlink.Scenarios.Http;
using Net.Zlink.Scenarios.Load;
using Net.Zlink.Scenarios.Patterns;
using Net.Zlink.Scenarios.Patterns.Many;
using Net.Zlink.Scenarios.Patterns.Running;
using Net.Zlink.Scenarios.Patterns.Services;
using Net.Zlink.Scenarios.Patterns.Services.Chaos;
using Net.Zlink.Scenarios.Patterns.Soak;
using Net.Zlink.Scenarios.Report;
using Net.Zlink.Scenarios.Runner;
using Net.Zlink.Scenarios.Servers;
using Net.Zlink.Scenarios.Settings;

var root = new RootCommand(
    "Measures Net.Zlink beside other stacks under the same load, and says whether what it measured counts. Exit codes: 0 good, 1 "
    + "something failed, 2 the request made no sense.")
{
    ScenarioCommand.Create(Scenario.S0),
    ScenarioCommand.Create(Scenario.S1),
    ScenarioCommand.Create(Scenario.S2),
    ServerCommand.Create(),
    ClientCommand.Create(),
    ProfileCommand.Create(),
    PatternsCommand.CreatePatterns(),
    PatternsCommand.CreateMulti(),
    PatternRunCommand.Create(),
    ManyCommand.Create(),
    ManyRunCommand.Create(),
    ServicesCommand.Create(),
    ChaosRoleCommand.Create(),
    JoiningDiscoveries.Create(),
    JoiningDiscoveries.CreateRegistry(),
    RestingConnections.Create(),
    RestingConnections.CreateReceiver(),
    SpotCommand.Create(),
    PlaintextCommand.Create(),
    PlaintextServerCommand.Create(),
    SoakCommand.Create(),
    AttackCommand.Create(),
    AttackerCommand.Create(),
    ServedCommand.Create(),
    VictimCommand.Create(),
    ReportCommand.Create(),
};

return await CommandLineProgram.RunAsync(root, args);

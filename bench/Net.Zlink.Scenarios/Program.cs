using System.CommandLine;
using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Scenarios.Patterns;
using Net.Zlink.Scenarios.Patterns.Many;
using Net.Zlink.Scenarios.Patterns.Running;

var root = new RootCommand("Measures Net.Zlink beside other stacks under the same load, and says whether what it measured counts.");
root.Add(PatternsCommand.CreatePatterns());
root.Add(PatternsCommand.CreateMulti());
root.Add(PatternRunCommand.Create());
root.Add(ManyCommand.Create());
root.Add(ManyRunCommand.Create());

return await CommandLineProgram.RunAsync(root, args);

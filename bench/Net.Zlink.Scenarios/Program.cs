using System.CommandLine;
using Net.Zlink.Benchmarks.Common;

var root = new RootCommand("Measures Net.Zlink beside other stacks under the same load, and says whether what it measured counts.");

return await CommandLineProgram.RunAsync(root, args);

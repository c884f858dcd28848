using System.CommandLine;

namespace Net.Zlink.Benchmarks.Common;

/// <summary>A command whose help ends with lines to copy.</summary>
internal interface IHasExamples
{
    IReadOnlyList<string> Examples { get; }
}

/// <summary>A command with examples.</summary>
internal sealed class ExampleCommand(string name, string description, params string[] examples) : Command(name, description), IHasExamples
{
    public IReadOnlyList<string> Examples => examples;
}

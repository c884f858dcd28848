using System.CommandLine.Parsing;

namespace Net.Zlink.Tool;

internal static class CommandNames
{
    /// <summary>The names of a command below the root, as the user writes them.</summary>
    public static IEnumerable<string> Names(this CommandResult command) =>
        command.Parent is CommandResult parent ? parent.Names().Append(command.Command.Name) : [];
}

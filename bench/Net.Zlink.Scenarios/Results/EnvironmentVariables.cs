using System.Collections;

namespace Net.Zlink.Scenarios.Results;

/// <summary>The environment variables that change what is measured: the runtime's switches, and which native library.</summary>
internal static class EnvironmentVariables
{
    // Of the variables that start with DOTNET_: those about the command-line tool and its folders change no figure, and name folders of one
    // machine.
    private static readonly string[] OfNoConsequence =
        ["DOTNET_ROOT", "DOTNET_CLI", "DOTNET_NOLOGO", "DOTNET_HOST_PATH", "DOTNET_SKIP", "DOTNET_USE_POLLING", "DOTNET_GENERATE",
        "DOTNET_RUNNING_IN", "DOTNET_VERSION", "DOTNET_LAUNCH"];

    public static IReadOnlyDictionary<string, string> Collect()
    {
        var found = new SortedDictionary<string, string>(StringComparer.Ordinal);
        foreach (DictionaryEntry entry in Environment.GetEnvironmentVariables())
        {
            string name = (string)entry.Key;
            if (Matters(name))
            {
                // A path is of one machine; which library it is, its version tells.
                string value = (string?)entry.Value ?? "";
                found[name] = Path.IsPathRooted(value) ? Path.GetFileName(value) : value;
            }
        }

        return found;
    }

    internal static bool Matters(string name) =>
        (name.StartsWith("DOTNET_", StringComparison.OrdinalIgnoreCase)
            && !Array.Exists(OfNoConsequence, prefix => name.StartsWith(prefix, StringComparison.OrdinalIgnoreCase))) ||
        name.StartsWith("COMPlus_", StringComparison.OrdinalIgnoreCase) ||
        name.StartsWith("ZLINK_", StringComparison.Ordinal) ||
        name is "LD_PRELOAD" or "MALLOC_ARENA_MAX";
}

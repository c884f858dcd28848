namespace Net.Zlink.Samples.Tests;

/// <summary>Whether a child process can be told to end as Ctrl-C does.</summary>
internal static class Interrupt
{
    public const string WhyNot = "These tests run in the background of a shell, deaf to INT.";

    /// <summary>An ignored signal stays ignored in child processes, and the runtime respects that. Bit n-1 of SigIgn is signal n; INT is
    /// 2.</summary>
    public static bool IsIgnored()
    {
        const string Status = "/proc/self/status";
        const string Name = "SigIgn:";
        string[] lines = File.Exists(Status) ? File.ReadAllLines(Status) : [];
        string ignored = lines.FirstOrDefault(line => line.StartsWith(Name, StringComparison.Ordinal)) ?? $"{Name} 0";
        return (Convert.ToUInt64(ignored[Name.Length..].Trim(), 16) & 2) != 0;
    }
}

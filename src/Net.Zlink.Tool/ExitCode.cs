namespace Net.Zlink.Tool;

/// <summary>What a script reads: docs/tool.md has the list.</summary>
internal static class ExitCode
{
    public const int Done = 0;
    public const int Failed = 1;
    public const int Usage = 2;
    public const int TimeOver = 124;
    public const int Stopped = 130;
}

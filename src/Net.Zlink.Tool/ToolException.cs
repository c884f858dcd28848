namespace Net.Zlink.Tool;

/// <summary>Ends a command with one line on standard error, which says what to do, and an exit code.</summary>
internal sealed class ToolException(string message, int exitCode = ExitCode.Failed) : Exception(message)
{
    public int ExitCode { get; } = exitCode;
}

namespace ProxySample;

/// <summary>What went wrong before the demo could run, as one line on standard error that says what to do.</summary>
internal static class Problem
{
    /// <summary>The exit code of a start that could not succeed.</summary>
    public const int ExitCode = 2;

    public static int Report(string sentence)
    {
        Console.Error.WriteLine($"Proxy: {sentence.ReplaceLineEndings(" ")}");
        return ExitCode;
    }
}

using System.CommandLine;

namespace Net.Zlink.Scenarios.Patterns;

/// <summary>Options with a list of values.</summary>
internal static class OptionChoices
{
    public static Option<string> Among(this Option<string> option, params string[] values)
    {
        option.AcceptOnlyFromAmong(values);
        return option;
    }

    public static Option<string[]> Among(this Option<string[]> option, params string[] values)
    {
        option.AcceptOnlyFromAmong(values);
        option.AllowMultipleArgumentsPerToken = true;
        return option;
    }
}

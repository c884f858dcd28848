using System.CommandLine;
using System.CommandLine.Parsing;

namespace Net.Zlink.Benchmarks.Common;

/// <summary>What is wrong about an option's value, said where the option is read and not in the middle of a run.</summary>
internal static class OptionChecks
{
    /// <summary>The longest for times: what timers can hold is not far beyond.</summary>
    public const int SecondsOfADay = 24 * 60 * 60;

    /// <summary>Refuses smaller values.</summary>
    public static Option<int> AtLeast(this Option<int> option, int least)
    {
        option.Validators.Add(result => AtLeast(result, result.GetValueOrDefault<int>(), least));
        return option;
    }

    /// <summary>Refuses smaller values; not given is no value.</summary>
    public static Option<int?> AtLeast(this Option<int?> option, int least)
    {
        option.Validators.Add(result => AtLeast(result, result.GetValueOrDefault<int?>(), least));
        return option;
    }

    /// <summary>Refuses larger values.</summary>
    public static Option<int> AtMost(this Option<int> option, int most)
    {
        option.Validators.Add(result => AtMost(result, result.GetValueOrDefault<int>(), most));
        return option;
    }

    /// <summary>Refuses larger values; not given is no value.</summary>
    public static Option<int?> AtMost(this Option<int?> option, int most)
    {
        option.Validators.Add(result => AtMost(result, result.GetValueOrDefault<int?>(), most));
        return option;
    }

    private static void AtLeast(OptionResult result, int? value, int least)
    {
        if (value < least)
        {
            result.AddError($"{result.Option.Name} must be at least {least}.");
        }
    }

    private static void AtMost(OptionResult result, int? value, int most)
    {
        if (value > most)
        {
            result.AddError($"{result.Option.Name} must be at most {most}.");
        }
    }
}

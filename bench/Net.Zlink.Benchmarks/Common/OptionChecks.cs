using System.CommandLine;

namespace Net.Zlink.Benchmarks.Common;

/// <summary>Limits of options.</summary>
internal static class OptionChecks
{
    /// <summary>Refuses smaller values.</summary>
    public static Option<int> AtLeast(this Option<int> option, int least)
    {
        option.Validators.Add(result =>
        {
            if (result.GetValueOrDefault<int>() < least)
            {
                result.AddError($"{option.Name} must be at least {least}.");
            }
        });
        return option;
    }
}

using System.Reflection;

namespace Net.Zlink.Extensions.Hosting;

/// <summary>Sets options by the configuration, with and without reflection emit alike. Each fault has the whole key.</summary>
internal static class SettingReader
{
    /// <summary>Sets what a section has. Each key is a property of one of the options, or one that the part reads by itself.</summary>
    public static void Read(this Setting section, IReadOnlyList<object> options, params string[] others)
    {
        IEnumerable<string> keys = options.SelectMany(static one => SettingType.Find(one.GetType())!.Keys).Concat(others)
            .Order(StringComparer.Ordinal);
        section.ThrowIfText(keys);
        foreach (Setting child in section.Children)
        {
            object? owner = options.FirstOrDefault(one => SettingType.Find(one.GetType())!.Property(child.Key) is not null);
            if (owner is not null)
            {
                Set(SettingType.Find(owner.GetType())!.Property(child.Key)!, owner, child);
            }
            else if (!others.Contains(child.Key, StringComparer.OrdinalIgnoreCase))
            {
                throw SettingFaults.NoSetting(child, keys);
            }
        }
    }

    private static void Set(PropertyInfo property, object owner, Setting setting)
    {
        if (SettingType.Find(property.PropertyType) is { } nested)
        {
            if (setting.IsSet)
            {
                setting.Read([nested.ValueOf(property, owner)]);
            }
        }
        else if (SettingType.IsList(property.PropertyType))
        {
            SetList(property, owner, setting.Texts());
        }
        else if (SettingType.IsFields(property.PropertyType))
        {
            setting.ThrowIfText(["a name for each text"]);
            var fields = (IDictionary<string, string>)property.GetValue(owner)!;
            foreach (Setting field in setting.Children)
            {
                fields[field.Key] = field.OneText() ?? "";
            }
        }
        else
        {
            SetValue(property, owner, setting);
        }
    }

    private static void SetValue(PropertyInfo property, object owner, Setting setting)
    {
        try
        {
            object? value = SettingText.Read(property.PropertyType, setting.OneText());
            property.SetValue(owner, value, BindingFlags.DoNotWrapExceptions, null, null, null);
        }
        catch (Exception e) when (e is ArgumentException or FormatException)
        {
            throw SettingFaults.Wrong(setting, e); // A setter does not know where its value came from.
        }
    }

    /// <summary>What is configured takes the place of the list in code.</summary>
    private static void SetList(PropertyInfo property, object owner, IReadOnlyList<string>? texts)
    {
        if (texts is null)
        {
            return;
        }

        if (property.SetMethod?.IsPublic == true)
        {
            property.SetValue(owner, texts.ToList()); // The one in code may be fixed.
            return;
        }

        var list = (ICollection<string>)property.GetValue(owner)!;
        list.Clear();
        foreach (string text in texts)
        {
            list.Add(text);
        }
    }
}

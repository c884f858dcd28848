using Microsoft.Extensions.Configuration;

namespace Net.Zlink.Extensions.Hosting;

/// <summary>A key of the configuration and the keys below it, as the last source that has them says. Empty: no source has it.</summary>
internal sealed class Setting(string path)
{
    private readonly SortedDictionary<string, Setting> _children = new(ConfigurationKeyComparer.Instance);

    /// <summary>The whole key.</summary>
    public string Path => path;

    public string Key => ConfigurationPath.GetSectionKey(path)!;

    /// <summary>Null: there are keys below it, or a source says null.</summary>
    public string? Text { get; private set; }

    public bool IsSet => Text is not null || _children.Count > 0;

    public IReadOnlyCollection<Setting> Children => _children.Values;

    /// <summary>The setting below this one; empty where there is none. A name may have colons.</summary>
    public Setting this[string key]
    {
        get
        {
            string[] parts = key.Split(ConfigurationPath.KeyDelimiter, 2);
            Setting child = _children.GetValueOrDefault(parts[0]) ?? new Setting(Below(parts[0]));
            return parts.Length == 1 ? child : child[parts[1]];
        }
    }

    /// <summary>A text takes the place of what earlier sources have below the key. Null takes the place of a text only.</summary>
    public void SetText(string? text)
    {
        Text = text;
        if (text is not null)
        {
            _children.Clear();
        }
    }

    /// <summary>A child takes the place of the text of an earlier source.</summary>
    public Setting GetOrAdd(string key)
    {
        Text = null;
        if (!_children.TryGetValue(key, out Setting? child))
        {
            child = new Setting(Below(key));
            _children.Add(key, child);
        }

        return child;
    }

    /// <summary>The text of a key that takes one value.</summary>
    public string? OneText(bool mayBeEmpty = true) =>
        _children.Count > 0 ? throw new ZlinkSettingException($"{path} takes one value, not a list or a section.")
        : mayBeEmpty || Text is not "" ? Text
        : throw new ZlinkSettingException($"{path} takes a text that is not empty: write one, or remove the key.");

    /// <summary>The texts of a key that takes a list; one text is a list of one. Null: no source has it.</summary>
    public IReadOnlyList<string>? Texts(bool mayBeEmpty = false)
    {
        if (!IsSet)
        {
            return null;
        }

        string[] texts = Text is { } one ? [one] : [.. Children.Select(static child => child.OneText()
            ?? throw new ZlinkSettingException($"{child.Path} takes a text, not null."))];
        return mayBeEmpty || !texts.Contains("", StringComparer.Ordinal) ? texts
            : throw new ZlinkSettingException($"{path} takes texts that are not empty: write one, or remove the key.");
    }

    /// <summary>The keys of a section.</summary>
    public void ThrowIfText(IEnumerable<string> keys)
    {
        if (!string.IsNullOrEmpty(Text))
        {
            throw new ZlinkSettingException($"{path} takes a section, not one value. Its keys are: {string.Join(", ", keys)}.");
        }
    }

    /// <summary>The key below this one by its last word; null: there is none.</summary>
    public Setting? Find(string key) => string.Equals(Key, key, StringComparison.OrdinalIgnoreCase) ? this
        : Children.Select(child => child.Find(key)).FirstOrDefault(static found => found is not null);

    private string Below(string key) => path.Length == 0 ? key : ConfigurationPath.Combine(path, key);
}
